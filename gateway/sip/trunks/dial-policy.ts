import type { SipConfig } from '../../../config/types.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierDirectory } from './carrier-directory.ts'
import type { DialGuard } from './dial-guard.ts'

const isOfListedCarrier =
  'the host belongs to a carrier with number lists, and may only be called through that carrier'
const isDirect = 'only SIP URIs of carriers may be called here (sip.dial)'
const isOfOtherProject = 'the host is that of a carrier of another project'

/** Rules for the hosts that a project may call. */
export class DialPolicy {
  /** Checks hosts that belong to no carrier, and hosts of carriers that customers made. */
  readonly guard: Pick<DialGuard, 'objection'> | undefined
  readonly #carriers: CarrierDirectory
  readonly #dial: () => SipConfig['dial']

  /**
   * `guard`: see {@link DialPolicy.guard}; default: every host may be dialled. `dial`: returns which SIP URIs
   * may be called: `any` (default), or `carriers` for URIs of the project's carriers only.
   */
  constructor(
    carriers: CarrierDirectory,
    guard?: Pick<DialGuard, 'objection'>,
    dial: () => SipConfig['dial'] = () => 'any',
  ) {
    this.#carriers = carriers
    this.guard = guard
    this.#dial = dial
  }

  /**
   * Returns the reason why a project may not call a URI; undefined if it may, or if its host has no address.
   */
  async objection(uri: SipUri, projectId: string): Promise<string | undefined> {
    const carrier = this.#carriers.of(uri, projectId)
    return carrier ? this.objectionToCarrier(carrier, projectId) : this.objectionToDirect(uri, projectId)
  }

  /** Returns the reason why a project may not call a URI without a carrier; undefined if it may. */
  async objectionToDirect(uri: SipUri, projectId: string): Promise<string | undefined> {
    if (this.#dial() === 'carriers') return isDirect
    // No call may bypass the number lists of the project's own carriers.
    const listed = this.#carriers.listedOf(projectId)
    if (listed.some(({ host }) => host === uri.host)) return isOfListedCarrier
    return this.#objectionToHost(uri, projectId, 'call', listed)
  }

  /**
   * Returns the reason why a project may not call through a carrier; undefined if it may. Only hosts of
   * carriers that customers made are checked.
   */
  async objectionToCarrier(
    { name, config, targets }: Carrier,
    projectId: string,
  ): Promise<string | undefined> {
    for (const { uri } of config.guarded ? targets : []) {
      const why = await this.#objectionToHost(uri, projectId, 'carrier')
      if (why !== undefined) return `carrier ${name}: ${why}`
    }
    return undefined
  }

  async #objectionToHost(
    uri: SipUri,
    projectId: string,
    by: 'call' | 'carrier',
    listed: readonly SipUri[] = [],
  ): Promise<string | undefined> {
    const closed = this.#carriers.closedTo(projectId, by)
    if (closed.places.some(({ host }) => host === uri.host)) return isOfOtherProject
    return this.guard?.objection(uri, { ...closed, places: [...closed.places, ...listed] })
  }
}
