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

"""OS::Aodh::GnocchiResourcesAlarm, OS::Aodh::GnocchiAggregationByMetricsAlarm
and OS::Aodh::GnocchiAggregationByResourcesAlarm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heat.engine import support
from heat.engine.properties import Schema
from heat.engine.resource import notation
from heat.engine.resources.openstack.aodh import alarm

_QUERY = "query"


def _compared() -> dict[str, Schema]:
    """What is compared with what, as all three types say it."""
    return notation.properties("""
        aggregation_method string (update) -- How measures of a period become
            -- one value, such as mean.
        comparison_operator string (update, in ["le", "ge", "eq", "lt", "gt",
            "ne"]) -- How values are compared.
        evaluation_periods integer (update) -- So many periods in a row.
        granularity integer (update) -- Seconds of a period.
        threshold number (required, update) -- With what it is compared.
    """)


class GnocchiResourcesAlarm(alarm.AlarmResource):
    """Goes off by a metric of one resource."""

    support_status = support.SupportStatus(version="2015.1")

    alarm_type = "gnocchi_resources_threshold"
    properties_schema = {
        **alarm.common(),
        **_compared(),
        **notation.properties("""
            metric string (required, update) -- Name of the metric.
            resource_id string (required, update) -- Id of the resource.
            resource_type string (required, update) -- Type of the resource,
                -- such as instance.
        """),
    }


class GnocchiAggregationByMetricsAlarm(alarm.AlarmResource):
    """Goes off by several metrics together."""

    support_status = support.SupportStatus(version="2015.1")

    alarm_type = "gnocchi_aggregation_by_metrics_threshold"
    properties_schema = {
        **alarm.common(),
        **_compared(),
        **notation.properties("""
            metrics list (required, update) -- Ids of the metrics.
        """),
    }


class GnocchiAggregationByResourcesAlarm(alarm.AlarmResource):
    """Goes off by one metric of all resources that are like this."""

    support_status = support.SupportStatus(version="2015.1")

    alarm_type = "gnocchi_aggregation_by_resources_threshold"
    properties_schema = {
        **alarm.common(),
        **_compared(),
        **notation.properties("""
            metric string (required, update) -- Name of the metric.
            query string (required, update) -- Which resources, as Gnocchi
                -- writes it: JSON, such as {"=": {"server_group": "a"}}.
            resource_type string (required, update) -- Type of the resources,
                -- such as instance.
        """),
    }

    def live_rule(
        self, wanted: Any, rule: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See the base. The service adds to the query that resources are to
        be the project's."""
        found = super().live_rule(wanted, rule)
        asked, live = _decoded(wanted[_QUERY]), _decoded(found[_QUERY])
        if asked is not None and (live == asked or _last_of(live) == asked):
            found[_QUERY] = wanted[_QUERY]
        return found


def _decoded(text: str | None) -> Any:
    """What JSON says, None when it is none."""
    try:
        return json.loads(text or "")
    except ValueError:
        return None


def _last_of(query: Any) -> Any:
    """The part that a user asked for, of a query with a project added."""
    both = query.get("and") if isinstance(query, dict) else None
    return both[1] if isinstance(both, list) and len(both) == 2 else None


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Aodh::GnocchiResourcesAlarm": GnocchiResourcesAlarm,
        "OS::Aodh::GnocchiAggregationByMetricsAlarm": (
            GnocchiAggregationByMetricsAlarm
        ),
        "OS::Aodh::GnocchiAggregationByResourcesAlarm": (
            GnocchiAggregationByResourcesAlarm
        ),
    }
