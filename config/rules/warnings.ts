import type { FaultDetails, Keys, Report } from '../faults.ts'
import { isLoopback, parseNetwork } from '../networks.ts'
import type { Config } from '../types.ts'
import { warnOfNumbers, warnOfPasswords } from './access-warnings.ts'
import { isStun } from './turn-rules.ts'

/** Valid setting that is dangerous or has no effect. */
export interface ConfigWarning {
  readonly keys: Keys
  readonly message: string
  readonly details?: FaultDetails
}

/** Returns the questionable settings of a configuration. */
export const warningsOf = (config: Config): readonly ConfigWarning[] => {
  const warnings: ConfigWarning[] = []
  const report: Report = (keys, message, details) => warnings.push({ keys, message, details })
  warnOfDomains(config, report)
  warnOfCarriers(config, report)
  warnOfEndpoints(config, report)
  warnOfListeners(config, report)
  warnOfApplications(config, report)
  warnOfTurn(config, report)
  warnOfPasswords(config, report)
  warnOfNumbers(config, report)
  return warnings
}

const isEveryAddress = (network: string): boolean => parseNetwork(network)?.prefix === 0

const warnOfDomains = ({ domains }: Config, report: Report): void => {
  domains.forEach(({ domain, allow, challenge }, i) => {
    const isOpen = allow === undefined || allow.some(isEveryAddress)
    if (isOpen && !challenge)
      report(['domains', i], `any address may send calls to ${domain}; restrict it by allow or challenge`)
  })
}

const warnOfCarriers = ({ carriers }: Config, report: Report): void => {
  carriers.forEach(({ name, allow, auth, tls, srtp, srtpWithoutTls, symmetric, targets }, i) => {
    const at = (key: string): Keys => ['carriers', i, key]
    if (allow.some(isEveryAddress)) report(at('allow'), `every address may send calls as the carrier ${name}`)
    if (auth && auth.realm === undefined)
      report(
        at('auth'),
        `has no realm: the first realm for which ${name} accepts the password is used, perhaps a callee's`,
      )
    if (!tls.verify)
      report(['carriers', i, 'tls', 'verify'], `is false: the certificate of ${name} is not verified`)
    if (srtp !== 'off' && srtpWithoutTls)
      report(at('srtpWithoutTls'), `SRTP keys are sent to ${name} over unencrypted signalling`)
    if (symmetric === 'first' && srtp !== 'required')
      report(
        at('symmetric'),
        `is first: the audio of a call with ${name} is that of the first sender, which may be an attacker`,
      )
    const hasPlain = targets.some((target) => !/^sips:|;transport=tls\b/i.test(target))
    if (srtp === 'required' && !srtpWithoutTls && hasPlain)
      report(
        at('srtp'),
        `is required, but not every target of ${name} uses TLS: targets without TLS get no calls`,
      )
  })
}

const warnOfEndpoints = ({ sip, endpoints }: Config, report: Report): void => {
  if (endpoints.length > 0 && sip.registrar.domains.length === 0)
    report(['endpoints'], 'cannot register, because sip.registrar.domains is empty')
}

const warnOfListeners = ({ sip, http }: Config, report: Report): void => {
  if (http.plain && !isLoopback(http.plain.address))
    report(
      ['http', 'plain'],
      'passwords and tokens are sent over plain HTTP on an address that other machines can reach',
    )
  if (http.plain && !isLoopback(http.plain.address) && http.metrics === null)
    report(['http', 'metrics'], 'no listener serves metrics: plain HTTP does so only on a loopback address')
  if (sip.drachtio && sip.shield.strangers === 'drop')
    report(
      ['sip', 'shield', 'strangers'],
      'has no effect with sip.drachtio: the shield is part of the embedded agent',
    )
}

const warnOfApplications = (config: Config, report: Report): void => {
  if (config.http.apiToken !== undefined) return
  for (const list of ['domains', 'endpoints', 'resources'] as const)
    config[list].forEach(({ handler }, i) => {
      if (handler?.kind === 'realtime')
        report([list, i, 'handler'], 'is realtime, but without http.apiToken no application can sign in')
    })
}

const warnOfTurn = ({ media }: Config, report: Report): void => {
  if (media.webrtc.turn?.urls.every(isStun))
    report(
      ['media', 'webrtc', 'turn', 'urls'],
      'has no TURN server: with STUN only, the published SDK cannot call from a network without NAT',
    )
}
