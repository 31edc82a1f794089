import type { AudioCodec } from '../../../media/types.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import { queueNameOf } from '../../calls/connect/destinations.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Directory } from '../../directory/directory.ts'
import type { AddressBook, Target } from '../../model.ts'
import type { CarrierQuotas } from '../../sip/trunks/carrier-quotas.ts'
import type { LikelyCodecs } from '../../sip/trunks/likely-codecs.ts'
import type { BrowserSession } from './browser-session.ts'
import type { Invite } from './verto-messages.ts'

/** Codecs for callees without known codecs, in the order of preference: most calls go to G.711. */
const browserCodecs: readonly AudioCodec[] = ['PCMU', 'PCMA', 'opus', 'G722']

/** Codecs for rooms, whose audio is wideband. */
export const roomCodecs: readonly AudioCodec[] = ['opus', 'G722', 'PCMU', 'PCMA']

/**
 * Rules for calls that browsers dial: permission, codecs, and the identity that carrier calls are charged to.
 */
export class BrowserDialRules {
  readonly #directory: AddressBook & Pick<Directory, 'resources' | 'room'>
  readonly #likelyCodecs: Pick<LikelyCodecs, 'of'>
  readonly #quotas: Pick<CarrierQuotas, 'attribute'>

  constructor(
    directory: AddressBook & Pick<Directory, 'resources' | 'room'>,
    likelyCodecs: Pick<LikelyCodecs, 'of'>,
    quotas: Pick<CarrierQuotas, 'attribute'>,
  ) {
    this.#directory = directory
    this.#likelyCodecs = likelyCodecs
    this.#quotas = quotas
  }

  /** Returns the reason for rejecting a dial, or undefined. */
  refusal({ identity, isAuthorized }: BrowserSession, { to }: Pick<Invite, 'to'>): Code | undefined {
    if (!isAuthorized) return 'unauthorized'
    if (identity.room) return undefined
    // The callers of a queue belong to the documents that take them.
    if (queueNameOf(to) !== undefined) return 'not_permitted'
    const target = this.#directory.resolve(to, identity.projectId)
    const isOutward = target?.kind === 'sip' && target.address === undefined
    const isPermitted = (identity.mayDialOut || !isOutward) && this.#reaches(identity, target)
    return isPermitted ? undefined : 'not_permitted'
  }

  /** Returns the audio codecs of a call of an identity to an address, in the order of preference. */
  codecsOf(
    to: string,
    { projectId, room }: Pick<TokenIdentity, 'projectId' | 'room'>,
  ): readonly AudioCodec[] {
    if (room || this.#directory.room(to, projectId).resource) return roomCodecs
    return [...this.#likelyCodecs.of(to, projectId), ...browserCodecs]
  }

  /** Attributes a call's carrier calls to an identity, until the returned function is called. */
  attribute(callId: string, { projectId, subscriber }: TokenIdentity): () => void {
    return this.#quotas.attribute(callId, { projectId, ...(subscriber && { subscriber }) })
  }

  /**
   * Returns whether the identity may call the target. The holder of a limited token learns nothing about
   * other addresses.
   */
  #reaches({ addressIds, projectId }: TokenIdentity, target: Target | undefined): boolean {
    if (!addressIds) return true
    if (target?.address === undefined) return false
    return [...addressIds].some((id) => {
      const { context, name } = this.#directory.resources.findByAddressId(projectId, id)?.address ?? {}
      return `/${context}/${name}` === target.address
    })
  }
}
