#    Licensed under the Apache License, Version 2.0 (the "License"); you may
#    not use this file except in compliance with the License. You may obtain
#    a copy of the License at
#
#         http://www.apache.org/licenses/LICENSE-2.0
#
#    Unless required by applicable law or agreed to in writing, software
#    distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
#    WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
#    License for the specific language governing permissions and limitations
#    under the License.
"""Template classes by their public names, ``HOTemplate20130523`` and so on.

Tests of third-party plug-ins import them from here; the engine does not.
"""

from __future__ import annotations

from heat.engine.template import hot

HOTemplate = hot.HOTemplate
HOTemplate20130523 = hot.CLASSES["2013-05-23"]
HOTemplate20141016 = hot.CLASSES["2014-10-16"]
HOTemplate20150430 = hot.CLASSES["2015-04-30"]
HOTemplate20151015 = hot.CLASSES["2015-10-15"]
HOTemplate20160408 = hot.CLASSES["2016-04-08"]
HOTemplate20161014 = hot.CLASSES["2016-10-14"]
HOTemplate20170224 = hot.CLASSES["2017-02-24"]
HOTemplate20170901 = hot.CLASSES["2017-09-01"]
HOTemplate20180302 = hot.CLASSES["2018-03-02"]
HOTemplate20180831 = hot.CLASSES["2018-08-31"]
HOTemplate20210416 = hot.CLASSES["2021-04-16"]
