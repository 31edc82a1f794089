/** Calls whose document comes from a customer's server at fault. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Code } from '../../gateway/core/errors/catalogue.ts'
import { sine } from '../../media/codecs/tone.ts'
import { application, flowText, scriptText, xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { type Answering, DocumentServer } from '../support/documents.ts'
import { Gateway, type LogLine } from '../support/gateway.ts'
import { wav } from '../support/wav.ts'

const chime = 700
/** Maximum wait for a document, in seconds. */
const patience = 1

/** Kinds of handlers: their documents, and their codes of faults. */
const kinds = [
  {
    kind: 'xml',
    plays: (url: string) => xmlText(`<Play>${url}</Play>`),
    busy: xmlText('<Reject reason="busy"/>'),
    invalid: xmlText('<Say>unclosed'),
    codes: { unreachable: '11200', redirects: '11215', status: '11217', large: '11750', invalid: '12100' },
  },
  {
    kind: 'script',
    plays: (url: string) => scriptText({ play: { url } }),
    busy: scriptText({ hangup: { reason: 'busy' } }),
    invalid: scriptText({ dance: {} }),
    codes: { unreachable: 'relay_script_fetch_failed', invalid: 'relay_script_method_undefined' },
  },
  {
    kind: 'flow',
    plays: (url: string) => flowText('play', { url }),
    busy: flowText('hang_up', { reason: 'busy' }),
    invalid: flowText('dance', {}),
    codes: { unreachable: 'flow_fetch_failed', invalid: 'flow_kind_undefined' },
  },
] as const

type Kind = (typeof kinds)[number]

const redirects =
  (location: string): Answering =>
  (response) =>
    response.writeHead(307, { location }).end()

/** Sends without an end while the connection is open. */
const endless: Answering = (response) => {
  const more = (): void => {
    while (response.write(' '.repeat(16_384)));
  }
  response.writeHead(200, { 'content-type': 'application/xml' }).on('drain', more)
  more()
}

/** Fault of a server: its answer (absent: the address is not permitted), and the report of the fault. */
interface Trouble {
  readonly answers?: Answering
  readonly code: Code
  /** Name of the reported code among the kind's; default `unreachable`. */
  readonly reported?: 'redirects' | 'status' | 'large' | 'invalid'
  readonly reason: RegExp
}

const troubles: Readonly<Record<string, (kind: Kind) => Trouble>> = {
  slow: () => ({
    answers: () => {},
    code: 'document_unreachable',
    reason: new RegExp(`longer than ${patience * 1000} ms`),
  }),
  'slow-body': () => ({
    answers: (response) => response.writeHead(200).write('<Response>'),
    code: 'document_unreachable',
    reason: new RegExp(`longer than ${patience * 1000} ms`),
  }),
  failing: () => ({
    answers: (response) => response.writeHead(500).end('<Response/>'),
    code: 'document_unreachable',
    reported: 'status',
    reason: /answered 500/,
  }),
  invalid: ({ invalid }) => ({
    answers: (response) => response.end(invalid),
    code: 'document_invalid',
    reported: 'invalid',
    reason: /Say|dance/,
  }),
  resetting: () => ({
    answers: (response) => void response.socket?.resetAndDestroy(),
    code: 'document_unreachable',
    reason: /connection failed/,
  }),
  looping: () => ({
    answers: redirects('looping'),
    code: 'document_unreachable',
    reported: 'redirects',
    reason: /redirect/,
  }),
  endless: () => ({
    answers: endless,
    code: 'document_unreachable',
    reported: 'large',
    reason: /larger than \d+ bytes/,
  }),
  'refused-address': () => ({
    code: 'document_unreachable',
    reason: /127\.0\.0\.2 is not public/,
  }),
  'redirecting-to-refused-address': () => ({
    answers: redirects(inner.urlOf('/hello')),
    code: 'document_unreachable',
    reason: /127\.0\.0\.2 is not public/,
  }),
}

const names = Object.keys(troubles)

let gateway: Gateway
/** Server at an address that customers' URLs must not use. */
let inner: DocumentServer
const servers = new Map<string, DocumentServer>()

/** Sets up the server of a kind, and returns the domains whose documents it serves. */
const furnish = (kind: Kind, server: DocumentServer): object[] => {
  const handler = { kind: kind.kind }
  server.put('/chime.wav', wav(sine(chime, 600, 8000, 8000), 8000))
  const hello = server.put('/hello', kind.plays(server.urlOf('/chime.wav')))
  const fallbackUrl = server.put('/fallback', kind.busy)
  inner.put('/hello', kind.busy)
  const bad = names.flatMap((name) => {
    const { answers } = troubles[name]!(kind)
    const url = answers ? server.answers(`/${name}`, answers) : inner.urlOf('/hello')
    return [
      application(`${name}.${kind.kind}.test`, { ...handler, url }),
      application(`${name}.fallback.${kind.kind}.test`, { ...handler, url, fallbackUrl }),
    ]
  })
  return [
    ...bad,
    application(`hello.${kind.kind}.test`, { ...handler, url: hello }),
    application(`hello.get.${kind.kind}.test`, { ...handler, url: hello, method: 'GET' }),
    application(`both.${kind.kind}.test`, {
      ...handler,
      url: server.urlOf('/failing'),
      fallbackUrl: server.urlOf('/invalid'),
    }),
  ]
}

beforeAll(async () => {
  inner = await DocumentServer.open('127.0.0.2')
  const domains: object[] = []
  for (const kind of kinds) {
    const server = await DocumentServer.open()
    servers.set(kind.kind, server)
    domains.push(...furnish(kind, server))
  }
  gateway = await Gateway.start({
    domains,
    limits: { documentTimeout: `${patience}s`, documentNetworks: ['127.0.0.1/32'] },
  })
})

afterAll(async () => {
  await gateway?.stop()
  for (const server of [...servers.values(), inner]) await server?.close()
})

const calls = (domain: string, scenario: string, status = 0): Promise<Carrier> =>
  Carrier.calls(gateway, { domain, scenario, values: { status } })

/** Returns the log lines of a call without its record. */
const linesOf = (record: LogLine): LogLine[] =>
  gateway.log.filter(({ call, msg }) => call === record.call && msg !== 'call ended')

const faultsOf = (lines: readonly LogLine[]) =>
  lines.flatMap(({ fault }) => (fault as { code: string; message: string } | undefined) ?? [])

describe.each(kinds)('a document of the kind $kind', (kind) => {
  const server = () => servers.get(kind.kind)!

  it.each(['hello', 'hello.get'])('is requested and runs (%s)', async (name) => {
    const fetched = await gateway.metric('documents_total', { outcome: 'fetched' })
    const carrier = await calls(`${name}.${kind.kind}.test`, 'caller-released')
    await carrier.talks('answered', 0)
    await carrier.hears(chime)
    await carrier.done()
    expect((await gateway.record(carrier.callId)).code).toBe('normal')
    expect(await gateway.metric('documents_total', { outcome: 'fetched' })).toBe(fetched + 1)
    const { method, body } = server().asked('/hello').at(-1)!
    expect([method, body === '']).toEqual(name === 'hello' ? ['POST', false] : ['GET', true])
    await gateway.settled()
  })

  describe.each(names)('whose server has a fault (%s)', (name) => {
    /** Expected report, with the code of this kind. */
    const expected = () => {
      const { reported = 'unreachable', ...trouble } = troubles[name]!(kind)
      const codes: Readonly<Partial<Record<string, string>>> = kind.codes
      return { ...trouble, reported: codes[reported] ?? kind.codes.unreachable }
    }

    it('makes the gateway reject the call with 503, one log line and one count', async () => {
      const { code, reason, reported } = expected()
      const outcome = code === 'document_invalid' ? 'fetched' : 'failed'
      const counts = () =>
        Promise.all([
          gateway.metric('rejections_total', { code }),
          gateway.metric('documents_total', { outcome }),
        ])
      const before = await counts()
      const carrier = await calls(`${name}.${kind.kind}.test`, 'caller-refused', 503)
      await carrier.done()
      const record = await gateway.record(carrier.callId)
      expect(record).toMatchObject({ code, by: 'us', answeredMs: 0 })
      const lines = linesOf(record).filter((line) => line.code || line.fault)
      expect(lines).toHaveLength(1)
      expect(lines[0]?.code).toBe(code)
      expect(JSON.stringify(lines[0])).toMatch(reason)
      if (code === 'document_invalid') expect(JSON.stringify(lines[0]?.faults)).toContain(reported)
      expect(await counts()).toEqual(before.map((count) => count + 1))
      await gateway.settled()
    })

    it('is replaced by the document of the fallback URL', async () => {
      const { code, reason, reported } = expected()
      const { length } = server().asked('/fallback')
      const before = await gateway.metric('rejections_total', { code })
      const carrier = await calls(`${name}.fallback.${kind.kind}.test`, 'caller-refused', 486)
      await carrier.done()
      const faults = faultsOf(linesOf(await gateway.record(carrier.callId)))
      expect(faults.map((fault) => fault.code)).toEqual([reported])
      expect(faults[0]?.message).toMatch(reason)
      expect(await gateway.metric('rejections_total', { code })).toBe(before)
      const requests = server().asked('/fallback').slice(length)
      expect(requests).toHaveLength(1)
      const { ErrorCode, ErrorUrl } = requests[0]!.fields
      const url = name === 'refused-address' ? inner.urlOf('/hello') : server().urlOf(`/${name}`)
      if (kind.kind === 'xml') expect([ErrorCode, ErrorUrl]).toEqual([reported, url])
      await gateway.settled()
    })
  })

  it('that fails at both URLs makes the gateway reject the call with the code of the second fault', async () => {
    const carrier = await calls(`both.${kind.kind}.test`, 'caller-refused', 503)
    await carrier.done()
    const record = await gateway.record(carrier.callId)
    expect(record.code).toBe('document_invalid')
    expect(linesOf(record).filter((line) => line.code)).toHaveLength(1)
    await gateway.settled()
  })

  it('that takes too long has its request closed', async () => {
    const left = Promise.withResolvers<void>()
    server().answers('/slow', (response) => response.on('close', () => left.resolve()))
    const carrier = await calls(`slow.${kind.kind}.test`, 'caller-refused', 503)
    await carrier.done()
    await left.promise
    await gateway.settled()
  })
})

it('no document request goes to an address outside the permitted networks', () => {
  expect(inner.requests).toEqual([])
})
