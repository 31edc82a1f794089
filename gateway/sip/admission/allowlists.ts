import { Networks } from '@trunkline/sip-agent/networks'
import type { DomainApp } from '../../directory/types.ts'

/**
 * Whether a source address may send to a domain application. Each list is built once, as long as it is the
 * same one.
 */
export class Allowlists {
  #built = new WeakMap<readonly string[], Networks>()

  /** Without a list every source may send. Text that is no address is refused. */
  allows({ allow }: Pick<DomainApp, 'allow'>, source: string): boolean {
    return allow === undefined || this.#listOf(allow).has(source)
  }

  #listOf(networks: readonly string[]): Networks {
    const known = this.#built.get(networks)
    if (known) return known
    const list = new Networks(networks)
    this.#built.set(networks, list)
    return list
  }
}
