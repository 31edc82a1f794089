import { Shield } from '@trunkline/sip-agent/shield'
import { canonicalHost } from '../../config/networks.ts'
import type { CodecName, Config } from '../../config/types.ts'
import { documentOf } from '../calls/log/call-log.ts'
import { type Code, catalogue } from '../core/errors/catalogue.ts'
import { parseSipUri, type SipUri } from '../core/sip-uri.ts'
import type { SipEndpoint } from '../directory/model/callers.ts'
import type { DigestSecret } from '../directory/model/digest-secret.ts'
import {
  type AdmissionDecision,
  type AdmissionRules,
  decideAdmission,
} from '../sip/admission/admission-decision.ts'
import type { Check, CheckedFacts } from '../sip/admission/admission-types.ts'
import { CallCounts } from '../sip/admission/call-counts.ts'
import type { DigestCheck } from '../sip/admission/challenger.ts'
import { telTarget } from '../sip/admission/tel-target.ts'
import { Trust } from '../sip/admission/trust.ts'
import { audioRules } from '../sip/media/audio-far-end.ts'
import { refusalStatus } from '../sip/sip-causes.ts'
import { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { numberRefusalText } from '../sip/trunks/routing.ts'
import { shieldOf } from './agent-options.ts'
import { fileObjects, type RouteObjects } from './route-objects.ts'

/** A request that might come. */
export interface RouteQuery {
  /** Address that it would come from. */
  readonly source: string
  readonly transport: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss'
  readonly method: string
  readonly uri: string
  /**
   * User name that the caller shows, with the right password; default: any that may call, but no SIP
   * endpoint.
   */
  readonly user?: string
  /** Its User-Agent; default none. */
  readonly userAgent?: string
}

/** Handler that an admitted call runs, or destination that it calls. */
export type AdmittedPlan = Extract<AdmissionDecision, { admit: unknown }>['admit']['plan']

/** One check, and the facts that it compared. */
export interface RouteStep {
  readonly check: Check | 'shield' | 'request' | 'number'
  readonly passed: boolean
  readonly facts: CheckedFacts
}

/** Outcome of a request, with its reasons. */
export interface RouteReport {
  readonly admitted: boolean
  readonly steps: readonly RouteStep[]
  /** Reason of a rejection. Undefined if the shield would drop the request without a response. */
  readonly code?: Code
  /** SIP status of the response: 200 for a request that is no call. Undefined if none is known. */
  readonly status?: number
  /** Codecs of an admitted call that may be used with the caller. */
  readonly codecs?: readonly CodecName[]
  /** Work after the admission of a call, and its project. */
  readonly next?: { readonly plan: AdmittedPlan; readonly projectId: string }
  /** Last line of the report for people. */
  readonly text: string
}

/**
 * Returns the outcome of a hypothetical request, computed by the code that also decides on real requests.
 * Assumes that no call is in progress, that the gateway has no load, and that the caller knows the right
 * passwords.
 */
export const testRoute = (
  config: Config,
  query: RouteQuery,
  objects: RouteObjects = fileObjects(config),
): RouteReport => {
  const context: RouteContext = { sip: config.sip, media: config.media, limits: config.limits, ...objects }
  return reportOf(context, query)
}

/** Settings of the file, and objects of the file or of the store. */
type RouteContext = Pick<Config, 'sip' | 'media' | 'limits'> & RouteObjects

const reportOf = (config: RouteContext, query: RouteQuery): RouteReport => {
  const steps: RouteStep[] = []
  const done = (report: Omit<RouteReport, 'steps'>): RouteReport => ({ ...report, steps })
  const refuse = (code: Code, text = catalogue[code].text, status = refusalStatus({ code })) =>
    done({ admitted: false, code, status, text: `refused with ${status} (${code}): ${text}` })
  const dropped = config.sip.drachtio ? undefined : shieldStep(config, query, steps)
  if (dropped) return done({ admitted: false, text: `dropped by the shield without an answer: ${dropped}` })
  const isTel = /^tel:/i.test(query.uri)
  const target = isTel ? telTargetOf(config, query) : parseSipUri(query.uri)
  if (!target) {
    steps.push({ check: 'request', passed: false, facts: { expected: 'a SIP URI in the request line' } })
    return refuse(isTel ? 'unsupported_uri' : 'bad_request')
  }
  if (query.method === 'OPTIONS')
    return done({ admitted: true, status: 200, text: 'answered with 200, as for every host' })
  const registrar = config.sip.registrar.domains.length > 0
  if (query.method === 'SUBSCRIBE' && registrar) return refuse('bad_event')
  if (query.method === 'REGISTER' && registrar) {
    const found = register(config, query, target)
    if (found === 'unknown_domain' || found === 'source_not_allowed') return refuse(found)
    if (found === 'unauthorized') return refuse(found, registerText, 401)
    return done({
      admitted: true,
      status: 200,
      text: `admitted: registers the SIP endpoint ${found.address}`,
    })
  }
  const decision = decide(config, query, target, steps)
  if ('admit' in decision) {
    const refused = numberStep(config, decision.admit, steps)
    if (refused !== undefined) return refuse('number_not_allowed', refused)
    const { codecs } = audioRules(decision.admit)
    return done({
      admitted: true,
      codecs,
      next: { plan: decision.admit.plan, projectId: decision.admit.projectId },
      text: `${planText(decision.admit.plan)}; speaks ${codecs.join(', ')}`,
    })
  }
  steps.push({ check: decision.check, passed: false, facts: decision.facts })
  return refuse(decision.refuse, reasonText(decision), decision.headers ? 401 : undefined)
}

const telTargetOf = (config: RouteContext, { uri, source }: RouteQuery): SipUri | undefined =>
  telTarget(uri, source, { directory: config.directory, trust: new Trust(config) })

const registerText = 'The registrar asks for a password; --user says which SIP endpoint it is.'

/**
 * Returns the endpoint of a REGISTER, or the rejection. The registrar challenges untrusted sources at every
 * host.
 */
const register = (
  config: RouteContext,
  query: RouteQuery,
  target: SipUri,
): SipEndpoint | 'source_not_allowed' | 'unknown_domain' | 'unauthorized' => {
  const { directory } = config
  const trust = new Trust(config)
  const host = canonicalHost(target.host)
  if (!trust.mayChallenge(query.source)) return 'source_not_allowed'
  if (!trust.isRegistrar(host) && trust.isListed(query.source)) return 'unknown_domain'
  const found = signIn(config, query, (name) => directory.endpointByName(name)?.secrets.get(host))
  return (found.kind === 'accepted' ? directory.endpointByName(found.username) : undefined) ?? 'unauthorized'
}

/** Returns the report for people: a line for each check, and the outcome. */
export const routeText = ({ source, transport, method, uri }: RouteQuery, report: RouteReport): string => {
  const lines = report.steps.map(
    ({ check, passed, facts }) =>
      `  ${check.padEnd(10)} ${passed ? 'passed ' : 'stopped'}  ${factsText(facts)}`,
  )
  return [`${method} ${uri} from ${source} over ${transport}`, ...lines, report.text, ''].join('\n')
}

const shieldStep = (config: RouteContext, query: RouteQuery, steps: RouteStep[]): string | undefined => {
  const { method, uri, userAgent, transport, source } = query
  const trust = new Trust(config)
  const settings = shieldOf(config.sip, trust.networks)
  const shield = new Shield({ now: () => 0 }, settings)
  const header = userAgent === undefined ? '' : `User-Agent: ${userAgent}\r\n`
  const bytes = Buffer.from(`${method} ${uri} SIP/2.0\r\n${header}\r\n`)
  const connected = transport === 'udp' || shield.accepts(transport, source)
  const passed = connected && shield.admits(transport, source, bytes)
  const known = trust.isListed(source)
  const packetsPerSecond = known ? settings.knownPacketsPerSecond : settings.packetsPerSecond
  steps.push({ check: 'shield', passed, facts: { known, packetsPerSecond } })
  return passed ? undefined : shield.dropped.scanner > 0 ? 'a scanner' : 'a stranger'
}

/**
 * Checks a dialled number or SIP URI against the lists of its carrier. Returns why it may not be called.
 */
const numberStep = (
  config: RouteContext,
  { plan, projectId }: Extract<AdmissionDecision, { admit: unknown }>['admit'],
  steps: RouteStep[],
): string | undefined => {
  if (plan.kind !== 'dial') return undefined
  const carriers = new CarrierDirectory(config.carriers, { now: () => 0 })
  const target = carriers.numberTarget(plan.to, projectId)
  const uri = parseSipUri(target?.uri ?? plan.to)
  const carrier = uri && carriers.of(uri, projectId)
  if (!uri || !carrier?.config.numbers) return undefined
  const verdict = carrier.numberVerdict(uri)
  const { isPermitted, number, prefix = 'none' } = verdict
  steps.push({ check: 'number', passed: isPermitted, facts: { carrier: carrier.name, number, prefix } })
  return isPermitted ? undefined : numberRefusalText(carrier, verdict)
}

const decide = (
  config: RouteContext,
  query: RouteQuery,
  target: SipUri,
  steps: RouteStep[],
): AdmissionDecision => {
  const rules: AdmissionRules = {
    directory: config.directory,
    trust: new Trust(config),
    limits: { ...config.sip.overload, maxCalls: config.limits.calls, untrusted: config.limits.strangers },
    counts: new CallCounts(new CarrierDirectory(config.carriers, { now: () => 0 }), { now: () => 0 }),
    note: (check, facts) => steps.push({ check, passed: true, facts }),
  }
  const { source, transport, method } = query
  const { from, to } = config.media.rtp.ports
  const ports = (to - from + 1) / 2
  const idle = { isDraining: false, busyPercent: 0, calls: 0, portsFree: ports, portsTotal: ports }
  return decideAdmission(
    {
      method,
      source,
      transport,
      target,
      ...idle,
      checkDigest: (_realm, secretOf) => signIn(config, query, secretOf),
    },
    rules,
  )
}

/**
 * Returns the result of a digest check: the caller knows the password of its user name. Without a name it
 * takes one that a domain or a carrier names.
 */
const signIn = (
  { domains, carriers }: RouteContext,
  { user }: RouteQuery,
  secretOf: (username: string) => DigestSecret | undefined,
): DigestCheck => {
  const named = [...domains, ...carriers].flatMap(({ challenge }) => challenge?.username ?? [])
  const username = (user === undefined ? named : [user]).find((name) => secretOf(name))
  if (username !== undefined) return { kind: 'accepted', username }
  const why = user === undefined ? 'missing' : 'wrong'
  return { kind: 'challenge', why, headers: { 'WWW-Authenticate': '' } }
}

const planText = (plan: AdmittedPlan): string => {
  if (plan.kind === 'dial') return `admitted: ${plan.to} is called`
  const { handler } = plan
  if (handler.kind === 'realtime')
    return `admitted: is offered to the realtime applications that listen on ${handler.topic}`
  return `admitted: runs the ${handler.kind} document ${documentOf(handler)}`
}

const reasonText = ({ refuse, facts }: Extract<AdmissionDecision, { refuse: Code }>): string => {
  const { text } = catalogue[refuse]
  const { app, knownDomain } = facts
  if (refuse === 'unauthorized' && knownDomain !== undefined)
    return `${text} A stranger is asked for a password at every host, whether or not there is one.`
  if (refuse === 'unauthorized' && app === undefined)
    return `${text} SIP endpoints call here; --user says which one.`
  return knownDomain === false ? `${text} Nothing has this domain, but a stranger does not learn that.` : text
}

const factsText = (facts: CheckedFacts): string =>
  Object.entries(facts)
    .filter(([name, value]) => value !== undefined && name !== 'source' && name !== 'transport')
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ')
