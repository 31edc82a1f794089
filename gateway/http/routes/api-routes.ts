import type { FastifyInstance } from 'fastify'
import type { OAuthDeps } from '../oauth/oauth-routes.ts'
import { useIgnoredFields } from '../requests/ignored-fields.ts'
import { type CallingDeps, callingRoutes } from './calling/calling-routes.ts'
import { callingRpcRoute } from './calling/calling-rpc-route.ts'
import { type CarrierDeps, carrierRoutes } from './carrier-routes.ts'
import { type CdrDeps, cdrRoutes } from './cdr/cdr-routes.ts'
import { type RecordingDeps, recordingRoutes } from './cdr/recording-routes.ts'
import { type VoiceLogDeps, voiceLogRoutes } from './cdr/voice-log-routes.ts'
import { type CompatDeps, compatRoutes } from './compat/compat-routes.ts'
import { type DeviceDeps, deviceRoutes } from './device-routes.ts'
import { type AddressDeps, addressRoutes } from './fabric/address-routes.ts'
import { type ConversationDeps, conversationRoutes } from './fabric/conversation-routes.ts'
import { type EmbedDeps, embedRoutes } from './fabric/embed-routes.ts'
import { fabricRoutes } from './fabric/fabric-routes.ts'
import { type LimitedTokenDeps, limitedTokenRoutes } from './fabric/limited-token-routes.ts'
import type { AllResourceDeps } from './fabric/resource-routes.ts'
import { type SubscriberInfoDeps, subscriberRoute } from './fabric/subscriber-info-route.ts'
import { type TokenDeps, tokenRoutes } from './fabric/token-routes.ts'
import { type OAuthClientDeps, oauthClientRoutes } from './oauth-client-routes.ts'
import { type ProjectTokenDeps, projectTokenRoutes } from './project-token-routes.ts'
import { type DomainAppDeps, domainApplicationRoutes } from './relay/domain-app-routes.ts'
import { sipEndpointRoutes } from './relay/relay-endpoint-routes.ts'
import { type BrowserLoginDeps, sessionRoute } from './session-route.ts'

/** Collaborators of the API routes; each file of routes declares its own. */
export type ApiDeps = BrowserLoginDeps &
  SubscriberInfoDeps &
  AddressDeps &
  RecordingDeps &
  CdrDeps &
  VoiceLogDeps &
  AllResourceDeps &
  TokenDeps &
  LimitedTokenDeps &
  EmbedDeps &
  ProjectTokenDeps &
  OAuthClientDeps &
  OAuthDeps &
  CompatDeps &
  CallingDeps &
  ConversationDeps &
  DeviceDeps &
  CarrierDeps &
  DomainAppDeps

/**
 * Adds every API route to a site. The family of the path sets the form of errors (`familyOf`). Routes with
 * bodies other than JSON have a scope of their own.
 */
export const apiRoutes = async (site: FastifyInstance, deps: ApiDeps): Promise<void> => {
  useIgnoredFields(site, deps.log)
  sessionRoute(site, deps)
  subscriberRoute(site, deps)
  addressRoutes(site, deps)
  fabricRoutes(site, deps)
  tokenRoutes(site, deps)
  limitedTokenRoutes(site, deps)
  embedRoutes(site, deps)
  projectTokenRoutes(site, deps)
  oauthClientRoutes(site, deps)
  await authorizationServer(site, deps)
  deviceRoutes(site, deps)
  conversationRoutes(site, deps)
  domainApplicationRoutes(site, deps)
  carrierRoutes(site, deps)
  sipEndpointRoutes(site, deps)
  cdrRoutes(site, deps)
  voiceLogRoutes(site, deps)
  await recordingRoutes(site, deps)
  callingRoutes(site, deps)
  callingRpcRoute(site, deps)
  await compatRoutes(site, deps)
}

// Loaded only where it is open: oidc-provider comes with it.
const authorizationServer = async (site: FastifyInstance, { oauth, signIn }: OAuthDeps): Promise<void> => {
  if (!oauth) return
  const { oauthRoutes } = await import('../oauth/oauth-routes.ts')
  await oauthRoutes(site, { oauth, signIn })
}
