import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type { CdrStore } from '../cdr/cdr-store.ts'
import type { RoomHistory } from '../cdr/room-history.ts'
import type { SubscriberHistory } from '../cdr/subscriber-history.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Origins } from '../core/web/origins.ts'
import { RestApi } from '../http/rest-api.ts'
import { carrierHealth } from '../operator/carrier-health.ts'
import type { Recordings } from '../recordings/recordings.ts'
import type { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import type { AppContext, OpenedStore } from './open.ts'
import type { OpenedBrowsers } from './open-browsers.ts'
import type { OpenedCalls } from './open-calls.ts'
import { openChat } from './open-chat.ts'
import { openOAuth } from './open-oauth.ts'

/** Collaborators of {@link openRestApi}. */
export interface OpenRestApiDeps {
  readonly store: OpenedStore
  readonly origins: Origins
  readonly opened: OpenedCalls
  readonly callbacks: Callbacks
  readonly carriers: Pick<CarrierDirectory, 'byName'>
  readonly recordings: Recordings
  readonly cdrs: CdrStore
  readonly subscriberCalls: SubscriberHistory
  readonly roomHistory: RoomHistory
  /** Browser sessions, which receive new messages of conversations. */
  readonly presence: OpenedBrowsers['presence']
}

/** Opens the API with its authorization server and its conversations. */
export const openRestApi = async (
  base: AppContext,
  {
    store,
    origins,
    opened,
    callbacks,
    carriers,
    recordings,
    cdrs,
    subscriberCalls,
    roomHistory,
    presence,
  }: OpenRestApiDeps,
  metrics: Metrics,
): Promise<RestApi> => {
  const { config, clock, log } = base
  const { directory, tokens, roomTokens, conferenceTokens, pairs, revocations, access } = store
  const { calls, placing, commands, conferences, rooms, queues, documentChecks } = opened
  metrics.gauge('tokens_checked', () => tokens.checked)
  metrics.gauge('tokens_revoked', () => revocations.size)
  const { oauthClients, oauth } = await openOAuth(base, store, metrics)
  const api = new RestApi({
    project: config.project,
    directory,
    credentials: {
      origins,
      access,
      tokens,
      roomTokens,
      conferenceTokens,
      pairs,
      oauthClients,
      ...(oauth && { oauth }),
    },
    calls: {
      placement: placing,
      commands,
      live: calls,
      sideDocuments: calls,
      conferences,
      queues,
      callbacks,
      documentChecks,
    },
    archive: { cdrs, history: cdrs, recordings, subscriberCalls },
    video: { history: roomHistory, rooms },
    carrierHealth: (name) => {
      const carrier = carriers.byName(name)
      return carrier && carrierHealth(carrier)
    },
    chat: openChat(base, store, presence, metrics),
    clock,
    log,
  })
  metrics.gauge('api_streams', () => api.streams.count)
  return api
}
