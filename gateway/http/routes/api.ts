import type { FastifyInstance } from 'fastify'
import { useIgnoredFields } from '../ignored-fields.ts'
import type { OAuthRouteParts } from '../oauth.ts'
import { type CallingParts, callingRoutes } from './calling/calls.ts'
import { callingRpcRoute } from './calling/rpc.ts'
import { type CarrierParts, carrierRoutes } from './carriers.ts'
import { type CompatParts, compatRoutes } from './compat/index.ts'
import { type DeviceParts, deviceRoutes } from './devices.ts'
import { type AddressParts, addressRoutes } from './fabric/addresses.ts'
import { type ChatRouteParts, conversationRoutes } from './fabric/conversations.ts'
import { type EmbedParts, embedRoutes } from './fabric/embeds.ts'
import { type LimitedTokenParts, limitedTokenRoutes } from './fabric/limited-tokens.ts'
import type { AllResourceParts } from './fabric/resources.ts'
import { fabricRoutes } from './fabric/routes.ts'
import { type SubscriberParts, subscriberRoute } from './fabric/subscriber-info.ts'
import { type TokenParts, tokenRoutes } from './fabric/tokens.ts'
import { type OAuthClientParts, oauthClientRoutes } from './oauth-clients.ts'
import { type ProjectTokenParts, projectTokenRoutes } from './project-tokens.ts'
import { type RecordingParts, recordingRoutes } from './records/recordings.ts'
import { type RecordParts, recordRoutes } from './records/records.ts'
import { type VoiceLogParts, voiceLogRoutes } from './records/voice-logs.ts'
import { type DomainAppParts, domainApplicationRoutes } from './relay/domain-applications.ts'
import { sipEndpointRoutes } from './relay/endpoints-sip.ts'
import { type SessionParts, sessionRoute } from './session.ts'

/** What the routes of the API need; each file of routes names its own part. */
export type ApiParts = SessionParts &
  SubscriberParts &
  AddressParts &
  RecordingParts &
  RecordParts &
  VoiceLogParts &
  AllResourceParts &
  TokenParts &
  LimitedTokenParts &
  EmbedParts &
  ProjectTokenParts &
  OAuthClientParts &
  OAuthRouteParts &
  CompatParts &
  CallingParts &
  ChatRouteParts &
  DeviceParts &
  CarrierParts &
  DomainAppParts

/**
 * Puts every route of the API on a site. The shape of their errors is that of the family that their path is of (`familyOf`); a scope of its
 * own is for routes that read other bodies than JSON.
 */
export const apiRoutes = async (site: FastifyInstance, parts: ApiParts): Promise<void> => {
  useIgnoredFields(site, parts.log)
  sessionRoute(site, parts)
  subscriberRoute(site, parts)
  addressRoutes(site, parts)
  fabricRoutes(site, parts)
  tokenRoutes(site, parts)
  limitedTokenRoutes(site, parts)
  embedRoutes(site, parts)
  projectTokenRoutes(site, parts)
  oauthClientRoutes(site, parts)
  await authorizationServer(site, parts)
  deviceRoutes(site, parts)
  conversationRoutes(site, parts)
  domainApplicationRoutes(site, parts)
  carrierRoutes(site, parts)
  sipEndpointRoutes(site, parts)
  recordRoutes(site, parts)
  voiceLogRoutes(site, parts)
  await recordingRoutes(site, parts)
  callingRoutes(site, parts)
  callingRpcRoute(site, parts)
  await compatRoutes(site, parts)
}

// Loaded only where it is open: oidc-provider comes with it.
const authorizationServer = async (
  site: FastifyInstance,
  { oauth, signIn }: OAuthRouteParts,
): Promise<void> => {
  if (!oauth) return
  const { oauthRoutes } = await import('../oauth.ts')
  await oauthRoutes(site, { oauth, signIn })
}
