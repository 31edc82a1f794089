import { isDeepStrictEqual } from 'node:util'
import { type Prefix, PrefixMap, readPrefix } from '@trunkline/sip-agent/networks'
import type { CarrierConfig } from '../../../config/types.ts'

/** What a carrier says of the networks that it calls from. */
interface Claim {
  readonly project: string | undefined
  readonly allow: readonly string[]
  readonly prefixes: readonly Prefix[]
  carrier: CarrierConfig
  /** Among all carriers: the first goes before the others. */
  place: number
}

/** Which carriers of a project claim a network; those of undefined are everybody's. */
type Claimants = Map<string | undefined, Set<Claim>>

/** Whose carrier calls from where. */
export class CarrierNetworks {
  readonly #byNetwork = new PrefixMap<Claimants>()
  #byName: ReadonlyMap<string, Claim> = new Map()

  /**
   * Reads the lists that are new; the function that it gives makes these the carriers from now on. Throws an
   * Error that names an entry which is no network.
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

  /** The project's carrier that an address is of; the first one where several claim it. */
  carrierOf(source: string, projectId: string): CarrierConfig | undefined {
    let first: Claim | undefined
    for (const claimants of this.#byNetwork.matching(source))
      for (const project of [projectId, undefined])
        for (const claim of claimants.get(project) ?? [])
          if (!first || claim.place < first.place) first = claim
    return first?.carrier
  }

  /**
   * Returns the `domain` of the carriers that an address is of, of whatever project; undefined without one,
   * and if two carriers name different ones: the call could belong to either.
   */
  telDomainOf(source: string): string | undefined {
    const domains = new Set<string>()
    for (const claimants of this.#byNetwork.matching(source))
      for (const claims of claimants.values())
        for (const { carrier } of claims) if (carrier.domain !== undefined) domains.add(carrier.domain)
    return domains.size === 1 ? [...domains][0] : undefined
  }

  /** The one that there is, where it claims the same. */
  #claimOf(carrier: CarrierConfig): Claim {
    const { name, project, allow } = carrier
    const present = this.#byName.get(name)
    const same = (one: Claim) =>
      one.carrier === carrier || (one.project === project && isDeepStrictEqual(one.allow, allow))
    if (present && same(present)) return present
    return { project, allow, prefixes: allow.map(readPrefix), carrier, place: 0 }
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
