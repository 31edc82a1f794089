import { isDeepStrictEqual } from 'node:util'
import { type Prefix, PrefixMap, requirePrefix } from '@trunkline/sip-agent/networks'
import type { CarrierConfig } from '../../../config/types.ts'

/** Networks that a carrier sends calls from. */
interface Claim {
  readonly project: string | undefined
  readonly allow: readonly string[]
  readonly prefixes: readonly Prefix[]
  carrier: CarrierConfig
  /** Position of the carrier in the configuration. If several carriers claim a network, the first counts. */
  place: number
}

/** Claims of a network, by project. Under the key undefined: carriers that serve every project. */
type Claimants = Map<string | undefined, Set<Claim>>

/** Index of carriers by the networks that they send calls from. */
export class CarrierNetworks {
  readonly #byNetwork = new PrefixMap<Claimants>()
  #byName: ReadonlyMap<string, Claim> = new Map()

  /**
   * Reads the lists of new carriers. Returns the function that replaces the current carriers by them. Throws
   * an Error that names an entry which is no network.
   */
  prepare(carriers: readonly CarrierConfig[]): () => void {
    const next = new Map(carriers.map((carrier) => [carrier.name, this.#claimOf(carrier)]))
    return () => {
      for (const [name, claim] of this.#byName) if (next.get(name) !== claim) this.#remove(claim)
      for (const [name, claim] of next) if (this.#byName.get(name) !== claim) this.#add(claim)
      for (const [place, carrier] of carriers.entries()) {
        const claim = next.get(carrier.name)!
        claim.carrier = carrier
        claim.place = place
      }
      this.#byName = next
    }
  }

  /** Returns the project's carrier that has an address in its networks; the first one of several. */
  carrierOf(source: string, projectId: string): CarrierConfig | undefined {
    let first: Claim | undefined
    for (const claimants of this.#byNetwork.matching(source))
      for (const project of [projectId, undefined])
        for (const claim of claimants.get(project) ?? [])
          if (!first || claim.place < first.place) first = claim
    return first?.carrier
  }

  /**
   * Returns the `domain` of the carriers that an address belongs to, of any project. Returns undefined if no
   * carrier has one, or if two carriers name different ones.
   */
  telDomainOf(source: string): string | undefined {
    const domains = new Set<string>()
    for (const claimants of this.#byNetwork.matching(source))
      for (const claims of claimants.values())
        for (const { carrier } of claims) if (carrier.domain !== undefined) domains.add(carrier.domain)
    return domains.size === 1 ? [...domains][0] : undefined
  }

  /** Returns the claim of a carrier: the existing one if it is equal. */
  #claimOf(carrier: CarrierConfig): Claim {
    const { name, project, allow } = carrier
    const present = this.#byName.get(name)
    const same = (one: Claim) =>
      one.carrier === carrier || (one.project === project && isDeepStrictEqual(one.allow, allow))
    if (present && same(present)) return present
    return { project, allow, prefixes: allow.map(requirePrefix), carrier, place: 0 }
  }

  #add(claim: Claim): void {
    for (const prefix of claim.prefixes) {
      const claimants: Claimants = this.#byNetwork.get(prefix) ?? new Map()
      const ofProject = claimants.get(claim.project) ?? new Set()
      this.#byNetwork.set(prefix, claimants.set(claim.project, ofProject.add(claim)))
    }
  }

  #remove(claim: Claim): void {
    for (const prefix of claim.prefixes) {
      const claimants = this.#byNetwork.get(prefix)
      const ofProject = claimants?.get(claim.project)
      ofProject?.delete(claim)
      if (ofProject?.size === 0) claimants?.delete(claim.project)
      if (claimants?.size === 0) this.#byNetwork.delete(prefix)
    }
  }
}
