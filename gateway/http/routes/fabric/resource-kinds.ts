import type { Resource, ResourceType } from '../../../directory/model/resource-types.ts'
import { aiAgents } from './ai-agent-kind.ts'
import { callFlows } from './call-flow-kind.ts'
import { conferenceRooms } from './conference-room-kind.ts'
import { relayApplications } from './relay-application-kind.ts'
import type { ResourceKind } from './resource-kind.ts'
import { cxmlScripts, swmlScripts } from './script-kinds.ts'
import { sipEndpoints } from './sip-endpoint-kind.ts'
import { sipGateways } from './sip-gateway-kind.ts'
import { subscribers } from './subscriber-kind.ts'
import { cxmlWebhooks, swmlWebhooks } from './webhook-kinds.ts'

/** Every kind of resource, by its type. */
export const kinds: { readonly [T in ResourceType]: ResourceKind<T> } = {
  subscriber: subscribers,
  sip_endpoint: sipEndpoints,
  swml_script: swmlScripts,
  swml_webhook: swmlWebhooks,
  cxml_script: cxmlScripts,
  cxml_webhook: cxmlWebhooks,
  call_flow: callFlows,
  relay_application: relayApplications,
  sip_gateway: sipGateways,
  room: conferenceRooms,
  ai_agent: aiAgents,
}

/** Returns the kind-specific fields of a resource for responses. */
export const detailsBody = (resource: Resource): object =>
  (kinds[resource.type] as ResourceKind).show(resource)
