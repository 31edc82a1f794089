import type { Log } from '../../core/log.ts'
import type { Directory } from '../../directory/directory.ts'
import { RpcError, rpcCodes } from '../frames.ts'
import type { Reply } from '../rpc-session.ts'
import type { BrowserSession } from './browser-session.ts'
import { maxWatchedAddresses, type PresenceWatch } from './presence-watch.ts'

/** Collaborators of {@link PresenceRequests}. */
export interface PresenceRequestsDeps {
  readonly watch: Pick<PresenceWatch, 'watch'>
  readonly directory: Pick<Directory, 'subscriber' | 'changeSubscriber'>
  readonly log: Log
}

type Params = Readonly<Record<string, unknown>>

/** Requests of browsers about presence. */
export class PresenceRequests {
  readonly #deps: PresenceRequestsDeps

  constructor(deps: PresenceRequestsDeps) {
    this.#deps = deps
  }

  /** Answers `presence.watch`: watches the addresses `address_ids`, in place of earlier ones. */
  watch(browser: BrowserSession, { address_ids: ids }: Params): Reply {
    const isList =
      Array.isArray(ids) &&
      ids.length <= maxWatchedAddresses &&
      ids.every((id) => typeof id === 'string' && id.length <= 100)
    if (!isList)
      throw new RpcError(
        rpcCodes.params,
        `address_ids: expected a list of at most ${maxWatchedAddresses} ids of addresses`,
      )
    return ok({ presence: this.#deps.watch.watch(browser, ids) })
  }

  /** Answers `subscriber.do_not_disturb`: changes the state to `enabled` if given, and returns the state. */
  async doNotDisturb({ identity }: BrowserSession, { enabled }: Params): Promise<Reply> {
    const { directory, log } = this.#deps
    const { kind, id: subscriber, projectId } = identity
    if (kind !== 'subscriber') return { result: { code: '403', message: 'Guests cannot receive calls.' } }
    if (enabled !== undefined && typeof enabled !== 'boolean')
      throw new RpcError(rpcCodes.params, 'enabled: expected true or false')
    const before = directory.subscriber(subscriber)?.doNotDisturb === true
    if (enabled !== undefined && enabled !== before) {
      await directory.changeSubscriber(projectId, subscriber, { doNotDisturb: enabled })
      log.info({ event: 'browser.do-not-disturb-changed', subscriber, enabled }, 'do not disturb changed')
    }
    return ok({ enabled: enabled ?? before })
  }
}

const ok = (result: object): Reply => ({ result: { code: '200', message: 'OK', ...result } })
