import { EmbedTokens } from '../auth/embed-tokens.ts'
import type { OAuthClients } from '../auth/oauth/clients.ts'
import type { OAuth } from '../auth/oauth/oauth.ts'
import type { ProjectAccess } from '../auth/project-access.ts'
import type { RoomTokens } from '../auth/room-tokens.ts'
import type { SubscriberTokens } from '../auth/subscriber-tokens.ts'
import type { TokenPairs } from '../auth/token-pairs.ts'
import type { CallCommands } from '../calling/call-commands.ts'
import type { Chat } from '../chat/chat.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Origins } from '../core/web/origins.ts'
import type { Directory } from '../directory/directory.ts'
import { DeviceRows } from '../directory/tables/devices.ts'
import { RefreshTokenRows } from '../directory/tables/refresh-tokens.ts'
import { PushKeys } from '../push/push-keys.ts'
import { basicAuth } from './requests/basic-auth.ts'
import { type Authenticate, bearerAuth } from './requests/bearer-auth.ts'
import { useIgnoredFields } from './requests/ignored-fields.ts'
import { PasswordSignIn } from './requests/password-sign-in.ts'
import type { RequireProject } from './requests/principal.ts'
import type { TypedSite } from './requests/typed-routes.ts'
import { callingRoutes } from './routes/calling/calling-routes.ts'
import { callingRpcRoute } from './routes/calling/calling-rpc-route.ts'
import { type CarrierDeps, carrierRoutes } from './routes/carrier-routes.ts'
import { type CdrDeps, cdrRoutes } from './routes/cdr/cdr-routes.ts'
import { type RecordingDeps, recordingRoutes } from './routes/cdr/recording-routes.ts'
import { voiceLogRoutes } from './routes/cdr/voice-log-routes.ts'
import { type CompatArchive, type CompatCalls, compatRoutes } from './routes/compat/compat-routes.ts'
import { ApiStreams } from './routes/compat/compat-stream-routes.ts'
import { deviceRoutes } from './routes/device-routes.ts'
import { domainApplicationRoutes } from './routes/domain-apps/domain-app-routes.ts'
import { addressRoutes } from './routes/fabric/address-routes.ts'
import { conversationRoutes } from './routes/fabric/conversation-routes.ts'
import { embedRoutes } from './routes/fabric/embed-routes.ts'
import { fabricRoutes } from './routes/fabric/fabric-routes.ts'
import { limitedTokenRoutes } from './routes/fabric/limited-token-routes.ts'
import { sipEndpointRoutes } from './routes/fabric/relay-endpoint-routes.ts'
import { type SubscriberCallDeps, subscriberCallRoute } from './routes/fabric/subscriber-call-route.ts'
import { subscriberRoute } from './routes/fabric/subscriber-info-route.ts'
import { tokenRoutes } from './routes/fabric/token-routes.ts'
import { TokenSubscribers } from './routes/fabric/token-subscribers.ts'
import { oauthClientRoutes } from './routes/oauth-client-routes.ts'
import { projectTokenRoutes } from './routes/project-token-routes.ts'
import { sessionRoute } from './routes/session-route.ts'
import { type ConferenceTokenDeps, conferenceTokenRoutes } from './routes/video/conference-token-routes.ts'
import { type RoomRecordingDeps, roomRecordingRoutes } from './routes/video/room-recording-routes.ts'
import { type RoomTokenDeps, roomTokenRoutes } from './routes/video/room-token-routes.ts'
import { type VideoDeps, videoRoutes } from './routes/video/video-routes.ts'

/** Authentication of projects and subscribers, and the tokens that they receive. */
export interface ApiCredentials {
  /** Origins whose pages may sign subscribers in. */
  readonly origins: Origins
  /** Checks Basic credentials. */
  readonly access: ProjectAccess
  readonly tokens: Pick<SubscriberTokens, 'issue' | 'verify'>
  readonly roomTokens: Pick<RoomTokens, 'issue'>
  readonly conferenceTokens: ConferenceTokenDeps['conferenceTokens']
  readonly pairs: Pick<TokenPairs, 'issue' | 'refresh' | 'revoke'>
  readonly oauthClients: OAuthClients
  /** OAuth provider; absent if disabled. */
  readonly oauth?: OAuth
}

/** Services for the calls, conferences and queues that the API controls. */
export interface ApiCalls extends CompatCalls {
  readonly commands: Pick<CallCommands, 'run'>
}

/** CDRs and recordings that the API returns. */
export interface ApiArchive extends CompatArchive {
  readonly cdrs: CdrDeps['cdrs']
  readonly recordings: RecordingDeps['recordings'] & RoomRecordingDeps['recordings']
  readonly subscriberCalls: SubscriberCallDeps['history']
}

/** Collaborators of the {@link RestApi}. */
export interface RestApiDeps {
  /** First project, whose subscribers may use the softphone. */
  readonly project: string
  readonly directory: Pick<
    Directory,
    | 'signIn'
    | 'roomStreams'
    | 'subscriber'
    | 'changeSubscriber'
    | 'resources'
    | 'domainApps'
    | 'carriers'
    | 'projects'
    | 'store'
  >
  readonly credentials: ApiCredentials
  readonly calls: ApiCalls
  readonly archive: ApiArchive
  /** Sessions of video rooms, in progress and ended. */
  readonly video: Pick<VideoDeps, 'history'> & { readonly rooms: VideoDeps['rooms'] & RoomTokenDeps['rooms'] }
  readonly chat: Chat
  readonly carrierHealth: CarrierDeps['carrierHealth']
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'warn' | 'info' | 'debug'>
}

/** Lifetime of a token of the softphone. */
const softphoneTokenSeconds = 24 * 3600

/**
 * Routes of the API with their collaborators. All listeners share one instance, so that limits apply
 * across ports. The family of the path sets the form of errors (`familyOf`).
 */
export class RestApi {
  readonly #deps: RestApiDeps
  readonly #requireProject: RequireProject
  readonly #authenticate: Authenticate
  readonly #signIn: PasswordSignIn
  readonly #refreshRows: RefreshTokenRows
  readonly #embeds: EmbedTokens
  readonly #devices: DeviceRows
  readonly #pushKeys: PushKeys
  /** Audio streams that the API has started. */
  readonly streams: ApiStreams

  constructor(deps: RestApiDeps) {
    const { directory, credentials, clock, log } = deps
    const { store, resources } = directory
    const { access, tokens } = credentials
    this.#deps = deps
    this.#requireProject = basicAuth(access)
    this.#authenticate = bearerAuth(tokens, directory)
    this.#signIn = new PasswordSignIn({ directory, clock, log })
    this.#refreshRows = new RefreshTokenRows(store)
    this.#embeds = new EmbedTokens({ tokens, rows: this.#refreshRows, resources, clock })
    this.#devices = new DeviceRows(store)
    this.#pushKeys = new PushKeys(directory)
    this.streams = new ApiStreams(clock)
  }

  /** Adds every route to a site. Routes with bodies other than JSON have a scope of their own. */
  async addTo(site: TypedSite): Promise<void> {
    useIgnoredFields(site, this.#deps.log)
    this.#addSubscriberRoutes(site)
    this.#addResourceRoutes(site)
    this.#addTokenRoutes(site)
    await this.#addOAuthRoutes(site)
    this.#addChatRoutes(site)
    this.#addTrunkRoutes(site)
    await this.#addCallRoutes(site)
    const { directory, video } = this.#deps
    const { resources, roomStreams } = directory
    videoRoutes(site, { ...video, resources, roomStreams, requireProject: this.#requireProject })
  }

  #addSubscriberRoutes(site: TypedSite): void {
    const { project, directory, credentials, archive, log } = this.#deps
    const { resources } = directory
    const { origins, tokens } = credentials
    const signIn = this.#signIn
    const authenticate = this.#authenticate
    sessionRoute(site, { project, signIn, tokens, origins, log, tokenSeconds: softphoneTokenSeconds })
    subscriberRoute(site, { resources, pushKeys: this.#pushKeys, authenticate })
    addressRoutes(site, { resources, authenticate })
    subscriberCallRoute(site, { history: archive.subscriberCalls, resources, authenticate })
  }

  #addResourceRoutes(site: TypedSite): void {
    const { directory, calls, log } = this.#deps
    const { resources, domainApps } = directory
    const { documentChecks } = calls
    fabricRoutes(site, { resources, domainApps, documentChecks, requireProject: this.#requireProject, log })
  }

  #addTokenRoutes(site: TypedSite): void {
    const { directory, credentials, clock, log } = this.#deps
    const { resources, projects } = directory
    const { tokens, roomTokens, conferenceTokens, pairs, oauthClients } = credentials
    const { rooms } = this.#deps.video
    const requireProject = this.#requireProject
    const authenticate = this.#authenticate
    const subscribers = new TokenSubscribers({ resources, directory, refreshRows: this.#refreshRows, clock })
    tokenRoutes(site, { subscribers, pairs, requireProject, authenticate, clock })
    limitedTokenRoutes(site, { resources, pairs, tokens, requireProject, authenticate, clock })
    roomTokenRoutes(site, { roomTokens, rooms, requireProject, clock })
    conferenceTokenRoutes(site, { resources, conferenceTokens, roomTokens, rooms, requireProject, log })
    embedRoutes(site, { embeds: this.#embeds, resources, requireProject, clock })
    projectTokenRoutes(site, { projects, requireProject, clock })
    oauthClientRoutes(site, { oauthClients, requireProject })
  }

  async #addOAuthRoutes(site: TypedSite): Promise<void> {
    const { oauth } = this.#deps.credentials
    if (!oauth) return
    // oidc-provider is large, so it is loaded only if OAuth is enabled.
    const { oauthRoutes } = await import('./oauth/oauth-routes.ts')
    await oauthRoutes(site, { oauth, signIn: this.#signIn })
  }

  #addChatRoutes(site: TypedSite): void {
    const { directory, chat, clock } = this.#deps
    const { resources } = directory
    const authenticate = this.#authenticate
    deviceRoutes(site, { devices: this.#devices, pushKeys: this.#pushKeys, authenticate, clock })
    conversationRoutes(site, { chat, resources, authenticate })
  }

  #addTrunkRoutes(site: TypedSite): void {
    const { resources, domainApps, carriers } = this.#deps.directory
    const requireProject = this.#requireProject
    domainApplicationRoutes(site, { domainApps, resources, requireProject })
    carrierRoutes(site, { carriers, carrierHealth: this.#deps.carrierHealth, requireProject })
    sipEndpointRoutes(site, { resources, requireProject })
  }

  async #addCallRoutes(site: TypedSite): Promise<void> {
    const { directory, calls, archive, clock, log } = this.#deps
    const { projects, resources } = directory
    const { placement, commands, documentChecks } = calls
    const { cdrs, history, recordings } = archive
    const requireProject = this.#requireProject
    const calling = { placement, commands, documentChecks, requireProject, log }
    cdrRoutes(site, { cdrs, requireProject, log })
    voiceLogRoutes(site, { history, requireProject })
    await recordingRoutes(site, { recordings, requireProject })
    roomRecordingRoutes(site, { recordings, history: this.#deps.video.history, requireProject })
    callingRoutes(site, calling)
    callingRpcRoute(site, calling)
    await compatRoutes(site, {
      directory: { projects, resources },
      calls,
      archive,
      streams: this.streams,
      requireProject,
      clock,
      log,
    })
  }
}
