import { EmbedTokens } from '../auth/embed-tokens.ts'
import type { OAuthClients } from '../auth/oauth/clients.ts'
import type { OAuth } from '../auth/oauth/oauth.ts'
import type { ProjectAccess } from '../auth/project-access.ts'
import type { SubscriberTokens } from '../auth/subscriber-tokens.ts'
import type { TokenPairs } from '../auth/token-pairs.ts'
import type { CallHistory } from '../calls/log/call-rows.ts'
import type { Chat } from '../chat/chat.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Origins } from '../core/web/origins.ts'
import { DeviceRows } from '../directory/devices.ts'
import { PushKeys } from '../directory/push-keys.ts'
import { RefreshTokenRows } from '../directory/refresh-tokens.ts'
import type { Directory } from '../directory/types.ts'
import { basicAuth } from './requests/basic-auth.ts'
import { bearerAuth } from './requests/bearer-auth.ts'
import { PasswordSignIn } from './requests/password-sign-in.ts'
import type { ApiDeps } from './routes/api-routes.ts'
import type { CallingDeps } from './routes/calling/calling-routes.ts'
import type { CdrDeps } from './routes/cdr/cdr-routes.ts'
import type { RecordingDeps } from './routes/cdr/recording-routes.ts'
import type { CompatDeps } from './routes/compat/compat-routes.ts'

/** Components from which the API is composed. */
export interface ApiSources {
  /** The first project. */
  readonly project: string
  /** Origins that may use the API. */
  readonly origins: Origins
  readonly directory: Pick<
    Directory,
    | 'signIn'
    | 'subscriber'
    | 'changeSubscriber'
    | 'resources'
    | 'domainApps'
    | 'carriers'
    | 'projects'
    | 'store'
  >
  readonly tokens: Pick<SubscriberTokens, 'issue' | 'verify'>
  readonly pairs: Pick<TokenPairs, 'issue' | 'refresh' | 'revoke'>
  /** Checks Basic credentials. */
  readonly access: ProjectAccess
  /** Calls, conferences and queues. */
  readonly calls: Pick<
    CompatDeps,
    'placed' | 'live' | 'conferences' | 'queues' | 'asides' | 'callbacks' | 'streams'
  > &
    Pick<CallingDeps, 'commands' | 'documentChecks'>
  readonly recordings: RecordingDeps['recordings']
  readonly records: CdrDeps['records'] & CallHistory
  readonly chat: Chat
  readonly oauthClients: OAuthClients
  /** OAuth provider; absent if disabled. */
  readonly oauth?: OAuth
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'warn' | 'info' | 'debug'>
}

/**
 * Returns the collaborators of the API routes. All listeners share them, so that rate limits apply across
 * ports.
 */
export const apiDepsOf = ({
  project,
  origins,
  directory,
  tokens,
  pairs,
  access,
  calls,
  recordings,
  records,
  chat,
  oauthClients,
  oauth,
  clock,
  log,
}: ApiSources): ApiDeps => ({
  project,
  directory,
  tokens,
  pairs,
  recordings,
  clock,
  log,
  requireProject: basicAuth(access),
  records,
  history: records,
  chat,
  oauthClients,
  ...(oauth && { oauth }),
  resources: directory.resources,
  domainApps: directory.domainApps,
  carriers: directory.carriers,
  projects: directory.projects,
  ...calls,
  ...tokenDeps({ directory, tokens, clock }),
  authenticate: bearerAuth(tokens, directory),
  origins,
  signIn: new PasswordSignIn({ directory, clock, log }),
  tokenSeconds: 24 * 3600,
})

const tokenDeps = ({ directory, tokens, clock }: Pick<ApiSources, 'directory' | 'tokens' | 'clock'>) => {
  const { store, resources } = directory
  const refreshRows = new RefreshTokenRows(store)
  return {
    refreshRows,
    embeds: new EmbedTokens({ tokens, rows: refreshRows, resources, clock }),
    devices: new DeviceRows(store),
    pushKeys: new PushKeys(directory),
  }
}
