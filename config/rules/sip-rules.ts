import { isDeepStrictEqual } from 'node:util'
import { parseDuration } from '../durations.ts'
import type { Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'
import { canonicalHost } from '../networks.ts'
import { mayUseTls } from '../targets.ts'
import type { NumberLists } from '../types.ts'
import { type Entry, unique } from './unique.ts'

/** Minimum session interval (RFC 4028 section 5), in milliseconds. */
const minSessionMs = 90_000

/** Checks the rules of `sip`, `carriers` and `endpoints` beyond the schema. */
export const checkSip = (config: FileConfig, report: Report): void => {
  checkCarriers(config, report)
  checkCertificates(config, report)
  checkCarrierTls(config, report)
  checkDurations(config, report)
  checkRegistrar(config, report)
  checkShield(config, report)
  checkCodecs(config, report)
}

const checkCodecs = ({ endpoints, domains }: FileConfig, report: Report): void => {
  for (const [group, all] of Object.entries({ endpoints, domains }))
    all.forEach(({ codecs = [] }, i) => {
      unique(
        'codec',
        codecs.map((codec, at): Entry => [codec, [group, i, 'codecs', at]]),
        report,
      )
    })
}

const checkCarriers = ({ carriers, project: first }: FileConfig, report: Report): void => {
  unique(
    'carrier',
    carriers.map(({ name }, i): Entry => [name, ['carriers', i, 'name']]),
    report,
  )
  const defaults = new Map<string, number>()
  carriers.forEach(({ default: isDefault, project = first }, i) => {
    if (!isDefault) return
    const other = defaults.get(project)
    if (other === undefined) defaults.set(project, i)
    else
      report(
        ['carriers', i, 'default'],
        `must be true for at most one carrier of a project; carriers[${other}] has it`,
      )
  })
  carriers.forEach((carrier, i) => {
    checkCarrier(carrier, (keys, message) => report(['carriers', i, ...keys], message))
  })
}

/** Checks the rules of a single carrier beyond the schema. */
export const checkCarrier = (carrier: FileConfig['carriers'][number], report: Report): void => {
  const { number, numbers, auth, identity, register, codecs, srtpSuites } = carrier
  if (!/^[0-9+*#]*$/.test(number.prefix)) report(['number', 'prefix'], 'must consist of digits, +, * and #')
  for (const [key, values] of Object.entries({ codecs, srtpSuites }))
    unique(
      key === 'codecs' ? 'codec' : 'SRTP suite',
      values.map((value, at): Entry => [value, [key, at]]),
      report,
    )
  checkNumbers(numbers, report)
  if (auth) return
  if (identity.from === 'username') report(['identity', 'from'], 'requires auth if it is username')
  else if (register && typeof identity.from !== 'object')
    report(['register'], 'requires auth, or a user in identity.from')
}

const checkNumbers = (numbers: NumberLists | undefined, report: Report): void => {
  if (!numbers) return
  const { allow, refuse } = numbers
  for (const [key, prefixes] of Object.entries({ allow, refuse }))
    unique(
      'prefix',
      prefixes.map((prefix, at): Entry => [prefix, ['numbers', key, at]]),
      report,
    )
  refuse.forEach((prefix, at) => {
    if (allow.includes(prefix)) report(['numbers', 'refuse', at], `${prefix} is also in numbers.allow`)
  })
}

const checkCertificates = ({ sip, carriers, http }: FileConfig, report: Report): void => {
  const pair = 'must have both certificate and key, or neither'
  const isHalf = (tls: { readonly certificate?: string; readonly key?: string }) =>
    (tls.certificate === undefined) !== (tls.key === undefined)
  if (isHalf(sip.tls)) report(['sip', 'tls'], pair)
  carriers.forEach(({ tls }, i) => {
    if (isHalf(tls)) report(['carriers', i, 'tls'], pair)
  })
  unique(
    'host',
    sip.tls.names.map(({ host }, i): Entry => [canonicalHost(host), ['sip', 'tls', 'names', i, 'host']]),
    report,
  )
  if (sip.tls.certificate !== undefined || http.tls !== false) return
  sip.listen.forEach(({ transport }, i) => {
    if (transport === 'tls' || transport === 'wss')
      report(
        ['sip', 'listen', i],
        'requires sip.tls.certificate, because HTTPS and its self-signed certificate are off',
      )
  })
}

/**
 * Checks that carriers at the same host have the same TLS settings, because they share connections. A target
 * without a transport may use TLS if its NAPTR records say so.
 */
const checkCarrierTls = ({ carriers }: FileConfig, report: Report): void => {
  const firstAt = new Map<string, number>()
  carriers.forEach(({ targets, tls }, i) => {
    for (const host of new Set(targets.filter(mayUseTls).map(hostOf))) {
      const first = firstAt.get(host) ?? i
      firstAt.set(host, first)
      if (!isDeepStrictEqual(tls, carriers[first]?.tls))
        report(
          ['carriers', i, 'tls'],
          `must equal that of carriers[${first}], because both have targets at ${host}, ` +
            'unless the targets of one carrier have ;transport=udp or ;transport=tcp',
        )
    }
  })
}

/** Returns the host of a target, whose format the schema has checked. */
const hostOf = (target: string): string =>
  canonicalHost(/^sips?:(\[[^\]]+\]|[^:;]+)/i.exec(target)?.[1] ?? '')

const checkDurations = ({ sip }: FileConfig, report: Report): void => {
  const ms = (text: string) => parseDuration(text) ?? 0
  const { sessionTimer: session, registrar } = sip
  for (const key of ['expires', 'min'] as const)
    if (ms(session[key]) < minSessionMs) report(['sip', 'sessionTimer', key], 'must be at least 90s')
  if (ms(session.expires) < ms(session.min))
    report(['sip', 'sessionTimer', 'expires'], `must not be shorter than min, ${session.min}`)
  if (ms(registrar.maxExpires) < ms(registrar.minExpires))
    report(['sip', 'registrar', 'maxExpires'], `must not be shorter than minExpires, ${registrar.minExpires}`)
}

const checkRegistrar = ({ sip, domains, endpoints }: FileConfig, report: Report): void => {
  const hosts = sip.registrar.domains.map(
    (domain, i): Entry => [canonicalHost(domain), ['sip', 'registrar', 'domains', i]],
  )
  unique('host', hosts, report)
  const apps = new Set(domains.map(({ domain }) => canonicalHost(domain)))
  for (const [host, keys] of hosts)
    if (apps.has(host))
      report(keys, `${host} is already a domain application; endpoints require another host`)
  unique(
    'user name',
    endpoints.map(({ username }, i): Entry => [username, ['endpoints', i, 'username']]),
    report,
  )
}

const checkShield = ({ sip, domains }: FileConfig, report: Report): void => {
  const { packetsPerSecond, knownPacketsPerSecond, strangers } = sip.shield
  if (knownPacketsPerSecond < packetsPerSecond)
    report(
      ['sip', 'shield', 'knownPacketsPerSecond'],
      `must not be less than packetsPerSecond, ${packetsPerSecond}`,
    )
  if (strangers === 'refuse')
    domains.forEach(({ allow, challenge }, i) => {
      if (allow === undefined && challenge !== undefined)
        report(['domains', i], 'requires allow besides challenge, because sip.shield.strangers is refuse')
    })
  if (strangers !== 'drop') return
  domains.forEach(({ allow }, i) => {
    if (allow === undefined) report(['domains', i], 'requires allow, because sip.shield.strangers is drop')
  })
  if (sip.registrar.domains.length > 0)
    report(
      ['sip', 'registrar', 'domains'],
      'must be empty if sip.shield.strangers is drop, because endpoints register from unknown addresses',
    )
}
