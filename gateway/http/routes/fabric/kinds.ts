import type { Resource, ResourceType } from '../../../directory/resource-types.ts'
import { aiAgents } from './agents.ts'
import { relayApplications } from './applications.ts'
import { callFlows } from './call-flows.ts'
import { cxmlScripts, swmlScripts } from './documents.ts'
import { sipEndpoints } from './endpoints.ts'
import { sipGateways } from './gateways.ts'
import type { Kind } from './kind.ts'
import { conferenceRooms } from './rooms.ts'
import { subscribers } from './subscribers.ts'
import { cxmlWebhooks, swmlWebhooks } from './webhooks.ts'

/** Every kind of resource, by its type. */
export const kinds: { readonly [T in ResourceType]: Kind<T> } = {
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

/** What of its kind a resource has, as answers show it. */
export const shownDetails = (resource: Resource): object => (kinds[resource.type] as Kind).show(resource)
