import type { Keys, Report } from './faults.ts'
import type { FileConfig, FileHandler } from './file.ts'
import { subscriberName } from './file.ts'

/** Checks what a schema cannot say: what must be unique, and what must fit together. */
export const checkRules = (config: FileConfig, report: Report): void => {
  checkUnique(config, report)
  checkHandlers(config, report)
  checkPorts(config, report)
  checkTls(config, report)
}

type Entry = readonly [name: string, keys: Keys]

const unique = (entries: readonly Entry[], report: Report): void => {
  const seen = new Set<string>()
  for (const [name, keys] of entries) {
    if (seen.has(name)) report(keys, `${name} stands there twice`)
    seen.add(name)
  }
}

const checkUnique = ({ domains, subscribers, resources, sip }: FileConfig, report: Report): void => {
  unique(
    domains.map(({ domain }, i): Entry => [domain.toLowerCase(), ['domains', i, 'domain']]),
    report,
  )
  unique(
    subscribers.map(({ email }, i): Entry => [email.toLowerCase(), ['subscribers', i, 'email']]),
    report,
  )
  unique(
    [
      ...subscribers.map((s, i): Entry => [`/${s.context}/${subscriberName(s)}`, ['subscribers', i]]),
      ...resources.map(({ address }, i): Entry => [address, ['resources', i, 'address']]),
    ],
    report,
  )
  const listeners = sip.listen.map(
    (l, i): Entry => [`${l.transport} ${l.address}:${l.port}`, ['sip', 'listen', i]],
  )
  unique(
    listeners.filter((_, i) => sip.listen[i]?.port !== 0),
    report,
  )
}

const checkHandlers = ({ domains, resources }: FileConfig, report: Report): void => {
  const check = (handler: FileHandler | undefined, keys: Keys) =>
    handler && checkHandler(handler, keys, report)
  domains.forEach(({ handler }, i) => {
    check(handler, ['domains', i, 'handler'])
  })
  resources.forEach(({ handler }, i) => {
    check(handler, ['resources', i, 'handler'])
  })
}

const checkHandler = (handler: FileHandler, keys: Keys, report: Report): void => {
  const given = (['url', 'document', 'file'] as const).filter((key) => handler[key] !== undefined)
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none is there' : `${given.join(' and ')} are there`
    report(keys, `must have exactly one of url, document and file; ${found}`)
  }
  if (handler.kind === 'xml' && typeof handler.document === 'object') {
    report([...keys, 'document'], 'must be a text for the kind xml; only a script may stand as YAML')
  }
  for (const key of ['fallbackUrl', 'method'] as const) {
    if (handler[key] !== undefined && handler.url === undefined)
      report([...keys, key], 'has a meaning only together with url')
  }
}

const checkPorts = ({ sip, media, http }: FileConfig, report: Report): void => {
  const { from, to } = media.rtp.ports
  const ports = ['media', 'rtp', 'ports']
  if (from % 2 === 1) report([...ports, 'from'], 'must be even: RTP has the even ports')
  if (to % 2 === 0) report([...ports, 'to'], 'must be odd: RTCP has the odd ports')
  if (to < from) report([...ports, 'to'], 'must be greater than from')
  const inRange = (port: number) => port >= from && port <= to
  if (inRange(media.webrtc.port))
    report(['media', 'webrtc', 'port'], `lies in the range of RTP ports, ${from} to ${to}`)
  sip.listen.forEach(({ transport, port }, i) => {
    if (transport === 'udp' && inRange(port))
      report(['sip', 'listen', i, 'port'], `lies in the range of RTP ports, ${from} to ${to}`)
  })
  const listeners = (['plain', 'tls', 'metrics'] as const).flatMap((name): Entry[] => {
    const listener = http[name]
    return typeof listener === 'object' && listener && listener.port !== 0
      ? [[`${listener.address}:${listener.port}`, ['http', name]]]
      : []
  })
  unique(listeners, report)
}

const checkTls = ({ http }: FileConfig, report: Report): void => {
  for (const name of ['plain', 'tls'] as const) {
    if (http[name] === true)
      report(['http', name], 'must be false or a group of keys; leave it out for the defaults')
  }
  const { tls } = http
  if (typeof tls === 'object' && (tls.certificate === undefined) !== (tls.key === undefined)) {
    report(['http', 'tls'], 'must have both certificate and key, or neither')
  }
}
