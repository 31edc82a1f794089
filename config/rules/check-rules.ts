import { isIP } from 'node:net'
import { type Keys, misplaced, type Report } from '../faults.ts'
import type { FileConfig, FileHandler } from '../file-config.ts'
import { endpointName, subscriberName } from '../file-config.ts'
import { canonicalHost } from '../networks.ts'
import { checkAgents } from './agent-rules.ts'
import { checkOAuth } from './oauth-rules.ts'
import { checkProjects } from './project-rules.ts'
import { checkPush } from './push-rules.ts'
import { checkSip } from './sip-rules.ts'
import { checkSound } from './sound-rules.ts'
import { checkTurn } from './turn-rules.ts'
import { type Entry, unique } from './unique.ts'

/** Checks the rules beyond the schema: uniqueness, and consistency between keys. */
export const checkRules = (config: FileConfig, report: Report): void => {
  checkProjects(config, report)
  checkUnique(config, report)
  checkHandlers(config, report)
  checkPorts(config, report)
  checkFamilies(config, report)
  checkTls(config, report)
  checkSip(config, report)
  checkSound(config, report)
  checkAgents(config, report)
  checkTurn(config, report)
  checkOAuth(config, report)
  checkPush(config, report)
  checkStreams(config, report)
}

const checkUnique = (config: FileConfig, report: Report): void => {
  const { domains, subscribers, endpoints, resources, rooms } = config
  // Names of different projects do not conflict.
  const of = ({ project }: { readonly project?: string }) =>
    project === undefined || project === config.project ? '' : ` of the project ${project}`
  unique(
    'domain',
    domains.map(({ domain }, i): Entry => [canonicalHost(domain), ['domains', i, 'domain']]),
    report,
  )
  unique(
    'e-mail address',
    subscribers.map((s, i): Entry => [`${s.email.toLowerCase()}${of(s)}`, ['subscribers', i, 'email']]),
    report,
  )
  unique(
    'address',
    [
      ...subscribers.map((s, i): Entry => [`/${s.context}/${subscriberName(s)}${of(s)}`, ['subscribers', i]]),
      ...endpoints.map((e, i): Entry => [`/${e.context}/${endpointName(e)}${of(e)}`, ['endpoints', i]]),
      ...resources.map((r, i): Entry => [`${r.address}${of(r)}`, ['resources', i, 'address']]),
      ...rooms.map((r, i): Entry => [`${r.address}${of(r)}`, ['rooms', i, 'address']]),
    ],
    report,
  )
}

/** Checks that no room has a stream twice. The messages have no URLs, as these are secret. */
const checkStreams = ({ rooms }: FileConfig, report: Report): void => {
  rooms.forEach(({ streams }, i) => {
    streams.forEach(({ url }, j) => {
      if (streams.findIndex((each) => each.url.trim() === url.trim()) !== j)
        report(['rooms', i, 'streams', j, 'url'], 'must differ from the other streams of the room')
    })
  })
}

const checkHandlers = ({ domains, endpoints, resources }: FileConfig, report: Report): void => {
  const check = (handler: FileHandler | undefined, keys: Keys) =>
    handler && checkHandler(handler, keys, report)
  domains.forEach(({ handler }, i) => {
    check(handler, ['domains', i, 'handler'])
  })
  endpoints.forEach(({ handler }, i) => {
    check(handler, ['endpoints', i, 'handler'])
  })
  resources.forEach(({ handler }, i) => {
    check(handler, ['resources', i, 'handler'])
  })
}

const checkHandler = (handler: FileHandler, keys: Keys, report: Report): void => {
  if (handler.kind === 'realtime') checkRealtime(handler, keys, report)
  else checkDocument(handler, keys, report)
}

const checkRealtime = (handler: FileHandler, keys: Keys, report: Report): void => {
  if (handler.topic === undefined) report(keys, 'must have topic if kind is realtime')
  for (const key of ['url', 'document', 'file', 'fallbackUrl', 'method'] as const) {
    if (handler[key] !== undefined) report([...keys, key], 'is not permitted if kind is realtime', misplaced)
  }
}

const checkDocument = (handler: FileHandler, keys: Keys, report: Report): void => {
  if (handler.topic !== undefined)
    report([...keys, 'topic'], 'is permitted only if kind is realtime', misplaced)
  const given = (['url', 'document', 'file'] as const).filter((key) => handler[key] !== undefined)
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none is given' : `${given.join(' and ')} are given`
    report(keys, `must have exactly one of url, document and file; ${found}`)
  }
  if (handler.kind === 'xml' && typeof handler.document === 'object') {
    report([...keys, 'document'], 'must be text if kind is xml; only a script or a call flow may be YAML')
  }
  if (handler.kind === 'agent' && handler.url !== undefined)
    report([...keys, 'url'], 'is not permitted if kind is agent', misplaced)
  for (const key of ['fallbackUrl', 'method'] as const) {
    if (handler[key] !== undefined && handler.url === undefined)
      report([...keys, key], 'is permitted only with url', misplaced)
  }
}

/** Checks that each IP family has at most one address, and that announced families are bound. */
const checkFamilies = ({ media: { rtp } }: FileConfig, report: Report): void => {
  const keys = ['media', 'rtp']
  const familiesOf = (name: 'bind' | 'announce'): readonly number[] => {
    const families = [rtp[name] ?? []].flat().map((address) => isIP(address))
    if (new Set(families).size < families.length)
      report([...keys, name], 'must have at most one address of each IP family')
    return families
  }
  const bound = familiesOf('bind')
  const foreign = familiesOf('announce').find((family) => !bound.includes(family))
  if (foreign !== undefined)
    report([...keys, 'announce'], `has an IPv${foreign} address, but bind has none of that family`)
}

const checkPorts = ({ sip, media, http }: FileConfig, report: Report): void => {
  const { from, to } = media.rtp.ports
  const ports = ['media', 'rtp', 'ports']
  if (from % 2 === 1) report([...ports, 'from'], 'must be even, because RTP uses the even ports')
  if (to % 2 === 0) report([...ports, 'to'], 'must be odd, because RTCP uses the odd ports')
  if (to < from) report([...ports, 'to'], 'must be greater than from')
  const inRange = (port: number) => port >= from && port <= to
  if (inRange(media.webrtc.port))
    report(['media', 'webrtc', 'port'], `must be outside the range of RTP ports, ${from} to ${to}`)
  sip.listen.forEach(({ transport, port }, i) => {
    if (transport === 'udp' && inRange(port))
      report(['sip', 'listen', i, 'port'], `must be outside the range of RTP ports, ${from} to ${to}`)
  })
  checkListeners(sip, http, report)
}

/** Checks that no two listeners on the same transport, UDP or TCP, share a port. */
const checkListeners = (sip: FileConfig['sip'], http: FileConfig['http'], report: Report): void => {
  const listeners = sip.listen.map(({ transport, ...at }, i) => ({
    ...at,
    kind: transport === 'udp' ? 'udp' : 'tcp',
    keys: ['sip', 'listen', i] as Keys,
  }))
  for (const name of ['plain', 'tls', 'metrics'] as const) {
    const listener = http[name]
    if (typeof listener === 'object' && listener)
      listeners.push({ ...listener, kind: 'tcp', keys: ['http', name] })
  }
  unique(
    'listener',
    listeners
      .filter(({ port }) => port !== 0)
      .map(({ kind, address, port, keys }): Entry => [`${kind} ${address}:${port}`, keys]),
    report,
  )
}

const checkTls = ({ http }: FileConfig, report: Report): void => {
  for (const name of ['plain', 'tls'] as const) {
    if (http[name] === true)
      report(['http', name], 'must be false or a group of keys; omit it for the defaults')
  }
  const { tls } = http
  if (typeof tls === 'object' && (tls.certificate === undefined) !== (tls.key === undefined)) {
    report(['http', 'tls'], 'must have both certificate and key, or neither')
  }
}
