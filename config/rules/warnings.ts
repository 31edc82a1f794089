import type { Keys, Report } from '../faults.ts'
import { isLoopback, parseNetwork } from '../networks.ts'
import type { Config } from '../types.ts'
import { warnOfNumbers, warnOfPasswords } from './access-warnings.ts'
import { isStun } from './turn-rules.ts'

/** Valid setting that is dangerous or has no effect. */
export interface ConfigWarning {
  readonly keys: Keys
  readonly message: string
}

/** Returns the questionable settings of a configuration. */
export const warningsOf = (config: Config): readonly ConfigWarning[] => {
  const warnings: ConfigWarning[] = []
  const report: Report = (keys, message) => warnings.push({ keys, message })
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

const isEverybody = (network: string): boolean => parseNetwork(network)?.prefix === 0

const warnOfDomains = ({ domains }: Config, report: Report): void => {
  domains.forEach(({ domain, allow, challenge }, i) => {
    const open = allow === undefined || allow.some(isEverybody)
    if (open && !challenge)
      report(
        ['domains', i],
        `anyone who knows ${domain} may send calls to it; give it allow or challenge to change that`,
      )
  })
}

const warnOfCarriers = ({ carriers }: Config, report: Report): void => {
  carriers.forEach(({ name, allow, auth, tls, srtp, srtpWithoutTls, symmetric, targets }, i) => {
    const at = (key: string): Keys => ['carriers', i, key]
    if (allow.some(isEverybody)) report(at('allow'), `every address counts as the carrier ${name}`)
    if (auth && auth.realm === undefined)
      report(
        at('auth'),
        `without realm the first realm that ${name} accepts our password for is taken, which may be a callee's`,
      )
    if (!tls.verify) report(['carriers', i, 'tls', 'verify'], `the certificate of ${name} is not checked`)
    if (srtp !== 'off' && srtpWithoutTls)
      report(at('srtpWithoutTls'), `keys of SRTP are sent to ${name} over signalling that others can read`)
    if (symmetric === 'first' && srtp !== 'required')
      report(
        at('symmetric'),
        `whoever finds the port of a call with ${name} before its audio comes can take the place of it`,
      )
    const plain = targets.some((target) => !/^sips:|;transport=tls\b/i.test(target))
    if (srtp === 'required' && !srtpWithoutTls && plain)
      report(at('srtp'), `is required, but not every target of ${name} is reached by TLS: those get no call`)
  })
}

const warnOfEndpoints = ({ sip, endpoints }: Config, report: Report): void => {
  if (endpoints.length > 0 && sip.registrar.domains.length === 0)
    report(['endpoints'], 'cannot register anywhere: sip.registrar.domains is empty')
}

const warnOfListeners = ({ sip, http }: Config, report: Report): void => {
  if (http.plain && !isLoopback(http.plain.address))
    report(['http', 'plain'], 'passwords and tokens go over plain HTTP on an address that others can reach')
  if (http.plain && !isLoopback(http.plain.address) && http.metrics === null)
    report(
      ['http', 'metrics'],
      'metrics are served nowhere: plain HTTP on an address that others can reach has none',
    )
  if (sip.drachtio && sip.shield.strangers === 'drop')
    report(['sip', 'shield', 'strangers'], 'has no effect: the shield is a part of the embedded agent')
}

const warnOfApplications = (config: Config, report: Report): void => {
  if (config.http.apiToken !== undefined) return
  for (const list of ['domains', 'endpoints', 'resources'] as const)
    config[list].forEach(({ handler }, i) => {
      if (handler?.kind === 'realtime')
        report([list, i, 'handler'], 'no application can sign in: http.apiToken is missing')
    })
}

const warnOfTurn = ({ media }: Config, report: Report): void => {
  if (media.webrtc.turn?.urls.every(isStun))
    report(
      ['media', 'webrtc', 'turn', 'urls'],
      'has no TURN server: with STUN alone, the published SDK makes no call from where there is no NAT',
    )
}
