import { canonicalHost } from '../../../config/networks.ts'
import { redactedUrl } from '../../../handlers/common/urls.ts'
import { userOf } from '../../core/sip-uri.ts'
import type { DomainApp, SipEndpoint } from '../../directory/model/callers.ts'
import type { DigestSecret } from '../../directory/model/digest-secret.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { warning } from '../gateway-headers.ts'
import { printable } from '../headers.ts'
import type { Headers } from '../srf.ts'
import type {
  AdmissionFacts,
  AdmissionRefusal,
  AdmissionRules,
  Check,
  CheckedFacts,
  IdentifiedCaller,
} from './admission-types.ts'
import { planEndpointCall } from './endpoint-dial-plan.ts'

/** Steps 3 and 4 of `decideAdmission`: identifies the caller, and plans its call. */
export const identifyCaller = (
  facts: AdmissionFacts,
  rules: AdmissionRules,
): IdentifiedCaller | AdmissionRefusal => {
  const host = canonicalHost(facts.target.host)
  const check = new CallerCheck(facts, rules, host)
  const app = rules.directory.domainApp(host)
  if (app) return isForUser(app, facts) ? check.planAppCall(app) : check.unknownHost()
  return rules.trust.isRegistrar(host) ? check.signInEndpoint() : check.unknownHost()
}

/** Whether the application takes calls to this user. */
const isForUser = ({ user = '*' }: DomainApp, { target }: AdmissionFacts): boolean =>
  user === '*' || user === userOf(target)

/** Runs the checks for one call. */
class CallerCheck {
  readonly #facts: AdmissionFacts
  readonly #rules: AdmissionRules
  readonly #host: string

  constructor(facts: AdmissionFacts, rules: AdmissionRules, host: string) {
    this.#facts = facts
    this.#rules = rules
    this.#host = host
  }

  /** Identifies the caller of a domain application, and takes the handler of the application. */
  planAppCall(app: DomainApp): IdentifiedCaller | AdmissionRefusal {
    const { source } = this.#facts
    const { trust } = this.#rules
    const carrier = trust.carrierOf(source, app.projectId)
    const named = { app: app.id, carrier: carrier?.name }
    this.#note('carrier', { carrier: carrier?.name ?? 'none' })
    this.#note('domain', { domain: this.#host, app: app.id })
    if (!trust.isAllowed(app, source))
      return this.#refuseHost('allow', { ...named, allow: app.allow }, app.projectId)
    this.#note('allow', { allow: app.allow ?? 'any address' })
    const secret = this.#secretFor(app)
    const isKnown = trust.isKnownTo(app.projectId, source)
    const standing = isKnown ? 'known' : secret ? 'authenticated' : 'untrusted'
    if (secret && !isKnown && !trust.mayChallenge(source))
      return this.#refuseHost('allow', named, app.projectId)
    if (secret) {
      const refusal = this.#signIn((name) => (name === secret.username ? secret : undefined), named)
      if (refusal) return refusal
    } else this.#note('challenge', { challenge: 'none' })
    const { handler, projectId } = app
    if (!handler) return this.#refuse('no_handler', 'handler', named)
    this.#note('handler', {
      kind: handler.kind,
      ...(handler.kind === 'realtime' && { topic: handler.topic }),
      ...('url' in handler && { url: redactedUrl(handler.url) }),
      ...('document' in handler && { document: handler.name }),
    })
    const plan = { kind: 'handler', handler } as const
    return { domain: this.#host, projectId, plan, standing, app, ...(carrier && { carrier }) }
  }

  /** Identifies a SIP endpoint by its digest answer. */
  signInEndpoint(): IdentifiedCaller | AdmissionRefusal {
    const { directory } = this.#rules
    let endpoint: SipEndpoint | undefined
    this.#note('domain', { domain: this.#host, registrar: true })
    if (!this.#rules.trust.mayChallenge(this.#facts.source))
      return this.#refuseHost('domain', { registrar: true })
    const refusal = this.#signIn((name) => {
      endpoint = directory.endpointByName(name)
      return endpoint?.secrets.get(this.#host)
    }, {})
    // An unknown user is checked against a dummy secret, which no answer matches; this check makes that
    // certain.
    if (refusal || !endpoint) return refusal ?? this.#refuse('unauthorized', 'challenge', {})
    return this.#planEndpointCall(endpoint)
  }

  /** Rejects a call to a host that belongs neither to a domain application nor to the registrar. */
  unknownHost(): AdmissionRefusal {
    return this.#refuseHost('domain', {})
  }

  /**
   * Rejects a caller who may not call the host, or who calls an unknown host. Only known callers learn which
   * of the two is the reason. These are callers in a list of the configuration file, or in a list of the
   * host's project. So no project can find out the hosts of a different project.
   */
  #refuseHost(check: Check, facts: CheckedFacts, projectId?: string): AdmissionRefusal {
    const { trust } = this.#rules
    const closed = check === 'allow'
    const { source } = this.#facts
    const isKnown = projectId === undefined ? trust.isListed(source) : trust.isKnownTo(projectId, source)
    if (isKnown || (trust.untrustedResponse === 'unknown' && !closed))
      return this.#refuse(closed ? 'source_not_allowed' : 'unknown_domain', check, facts)
    const known = { ...facts, knownDomain: closed }
    if (trust.untrustedResponse !== 'challenge') return this.#refuse('source_not_allowed', check, known)
    return this.#signIn(() => undefined, known) ?? this.#refuse('unauthorized', 'challenge', known)
  }

  /**
   * Returns the secret that the caller must know; undefined if none is required. The carrier's own challenge
   * takes precedence over the domain's. If the domain has no allow list, a caller in a carrier's network
   * needs no password of the domain.
   */
  #secretFor(app: DomainApp): DigestSecret | undefined {
    const carrier = this.#rules.trust.carrierOf(this.#facts.source, app.projectId)
    const own = carrier?.challenge
    if (own) return digestSecret(own.username, this.#host, own.password)
    return carrier && app.allow === undefined ? undefined : app.challenge
  }

  #signIn(
    secretOf: (username: string) => DigestSecret | undefined,
    facts: CheckedFacts,
  ): AdmissionRefusal | undefined {
    const found = this.#facts.checkDigest(this.#host, secretOf)
    if (found.kind === 'accepted') {
      this.#note('challenge', { username: found.username })
      return undefined
    }
    const { why, headers } = found
    const refused = this.#refuse('unauthorized', 'challenge', { ...facts, answer: why })
    const isQuiet = why !== 'wrong' && facts.knownDomain === undefined
    return {
      ...refused,
      headers: { ...headers, ...this.#warning() },
      ...(isQuiet && { isQuiet }),
    }
  }

  /**
   * Returns a Warning header for a challenged source whose address is in no list. Without it, the operator of
   * a carrier that sends from an unlisted address would look for a wrong password. The warning is the same
   * for every host.
   */
  #warning(): Headers {
    const { source } = this.#facts
    return this.#rules.trust.isListed(source) ? {} : { Warning: warning(`${source} is in no allow list`) }
  }

  /** Plans the call of an endpoint. */
  #planEndpointCall(endpoint: SipEndpoint): IdentifiedCaller | AdmissionRefusal {
    const { projectId, username } = endpoint
    const plan = planEndpointCall(this.#facts.target, endpoint, this.#rules.directory)
    const dialled = userOf(this.#facts.target)
    if ('refuse' in plan) {
      const { mayDialOut } = endpoint
      return this.#refuse(plan.refuse, 'dial', {
        endpoint: username,
        mayDialOut,
        dialled: printable(dialled),
      })
    }
    this.#note('dial', {
      endpoint: username,
      dialled,
      ...(plan.kind === 'dial' ? { to: plan.to } : { handler: plan.handler.kind }),
    })
    return { domain: this.#host, projectId, plan, standing: 'authenticated', endpoint }
  }

  #refuse(refuse: AdmissionRefusal['refuse'], check: Check, facts: CheckedFacts): AdmissionRefusal {
    const { source, transport } = this.#facts
    return { refuse, check, facts: { source, transport, domain: this.#host, ...facts } }
  }

  #note(check: Check, facts: CheckedFacts): void {
    this.#rules.note?.(check, facts)
  }
}
