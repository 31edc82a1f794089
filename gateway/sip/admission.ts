import type { DomainApp } from '../directory/types.ts'
import type { Code } from '../errors.ts'

/** What is known of an INVITE and of the gateway when it is decided. */
export interface AdmissionFacts {
  readonly method: string
  /** Address that the packet came from. */
  readonly source: string
  readonly transport: string
  /** Host of the request-URI. */
  readonly host: string
  readonly draining: boolean
  /** Calls in progress, with those that are being set up. */
  readonly calls: number
  readonly maxCalls: number
  /** Carrier media ports that are neither open nor in quarantine. */
  readonly portsFree: number
}

/** What the decision looks up. */
export interface AdmissionRules {
  domainApp(host: string): DomainApp | undefined
  allows(app: DomainApp, source: string): boolean
  /** Calls in progress of one domain application. */
  callsOf(app: DomainApp): number
}

/** The decision; `facts` are those that were checked, for the log line. */
export type Admission =
  | { readonly admit: DomainApp }
  | { readonly refuse: Code; readonly facts: Readonly<Record<string, unknown>> }

/**
 * Whether a call is let in. The order is part of the contract, so that the same call is always refused for the same reason:
 *
 * 1. the method is INVITE, else `method_not_allowed`;
 * 2. the gateway is not draining, else `draining`;
 * 3. the request-URI's host is the domain of an application, else `unknown_domain`;
 * 4. the source address is in its allowlist, else `source_not_allowed`;
 * 5. it has a handler, else `no_handler` (such a call is not answered);
 * 6. the gateway's call limit, then the application's, is not reached, else `over_call_limit`;
 * 7. a media port is free, else `no_ports`.
 */
export const admit = (facts: AdmissionFacts, rules: AdmissionRules): Admission => {
  const { source, transport, host } = facts
  const refuse = (code: Code, more: Record<string, unknown> = {}): Admission => ({
    refuse: code,
    facts: { source, transport, domain: host, ...more },
  })
  if (facts.method !== 'INVITE') return refuse('method_not_allowed', { method: facts.method })
  if (facts.draining) return refuse('draining', { calls: facts.calls })
  const app = rules.domainApp(host)
  if (!app) return refuse('unknown_domain')
  if (!rules.allows(app, source)) return refuse('source_not_allowed', { app: app.id, allow: app.allow })
  if (!app.handler) return refuse('no_handler', { app: app.id })
  if (facts.calls >= facts.maxCalls)
    return refuse('over_call_limit', { app: app.id, calls: facts.calls, limit: facts.maxCalls })
  const domainCalls = rules.callsOf(app)
  if (app.maxCalls !== undefined && domainCalls >= app.maxCalls)
    return refuse('over_call_limit', { app: app.id, domainCalls, domainLimit: app.maxCalls })
  if (facts.portsFree < 1) return refuse('no_ports', { app: app.id, portsFree: facts.portsFree })
  return { admit: app }
}

/** Counts what is in progress by key. A count goes down by the handle that raised it, exactly once. */
export class Concurrency {
  #counts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  /** Keys with a count above zero. */
  get size(): number {
    return this.#counts.size
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  /** Counts one more; the result takes it back, however often it is called. */
  acquire(key: string): () => void {
    this.#counts.set(key, this.count(key) + 1)
    this.#total++
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#total--
      const left = this.count(key) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    }
  }
}
