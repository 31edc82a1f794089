/** Calls in progress whose next document fails: an XML action's, and the one that a script continues with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Code } from '../../gateway/core/errors/catalogue.ts'
import { sine } from '../../media/codecs/tone.ts'
import { application, scriptText, xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { type Answering, DocumentServer } from '../support/documents.ts'
import { Gateway, type LogLine } from '../support/gateway.ts'
import { wav } from '../support/wav.ts'

const chime = 700

interface Trouble {
  readonly answers: Answering
  readonly code: Code
  /** Error codes that are reported to XML documents and to scripts. */
  readonly xml: string
  readonly script: string
}

const unreachable = { code: 'document_unreachable', script: 'relay_script_fetch_failed' } as const

const troubles: readonly (readonly [name: string, trouble: Trouble])[] = [
  ['slow', { ...unreachable, answers: () => {}, xml: '11200' }],
  ['failing', { ...unreachable, answers: (response) => response.writeHead(500).end(), xml: '11217' }],
  [
    'resetting',
    { ...unreachable, answers: (response) => void response.socket?.resetAndDestroy(), xml: '11200' },
  ],
  [
    'elsewhere',
    {
      ...unreachable,
      answers: (response) => response.writeHead(307, { location: 'http://127.0.0.2:9/' }).end(),
      xml: '11200',
    },
  ],
  [
    'invalid',
    {
      answers: (response) => response.writeHead(200).end('{"sections":'),
      code: 'document_invalid',
      xml: '12100',
      script: 'relay_script_parse_error',
    },
  ],
]

let gateway: Gateway
let server: DocumentServer

beforeAll(async () => {
  server = await DocumentServer.open()
  const play = xmlText(`<Play>${server.put('/chime.wav', wav(sine(chime, 400, 8000, 8000), 8000))}</Play>`)
  const fallbackUrl = server.put('/fallback', play)
  const domains = troubles.flatMap(([name, { answers }]) => {
    const url = server.answers(`/next/${name}`, answers)
    const gather = `<Gather numDigits="1" action="${url}"><Play loop="0">${server.urlOf('/chime.wav')}</Play></Gather>`
    const xml = { kind: 'xml', url: server.put(`/xml/${name}`, xmlText(gather)) }
    const text = scriptText(
      'answer',
      { transfer: { dest: url } },
      { play: { url: server.urlOf('/chime.wav') } },
    )
    return [
      application(`${name}.xml.test`, xml),
      application(`${name}.fallback.xml.test`, { ...xml, fallbackUrl }),
      application(`${name}.script.test`, { kind: 'script', url: server.put(`/script/${name}`, text) }),
    ]
  })
  const limits = { documentTimeout: '1s', documentNetworks: ['127.0.0.1/32'] }
  gateway = await Gateway.start({ domains, limits })
})

afterAll(async () => {
  await gateway?.stop()
  await server?.close()
})

const calls = async (domain: string): Promise<Carrier> => {
  const caller = await Carrier.calls(gateway, { domain, scenario: 'caller-released' })
  await caller.talks('answered', 0)
  return caller
}

/** Waits for the end of a call. Returns its record, and its log lines at `warn` and above. */
const over = async (caller: Carrier) => {
  await caller.done()
  await gateway.settled()
  const record = await gateway.record(caller.callId)
  const isWrong = ({ call, level, msg }: LogLine) =>
    call === record.call && level >= 40 && msg !== 'call ended'
  return { record, wrong: gateway.log.filter(isWrong) }
}

const faultCode = ({ fault }: LogLine): string => (fault as { code: string }).code

describe.each(troubles)('a fault of the next document’s server (%s)', (name, { code, xml, script }) => {
  it('ends a call whose action has no fallback URL, with one log line and one count', async () => {
    const before = await gateway.metric('rejections_total', { code })
    const caller = await calls(`${name}.xml.test`)
    await caller.hears(chime)
    caller.media.press('5')
    const { record, wrong } = await over(caller)
    expect(record).toMatchObject({ code, by: 'us' })
    expect(wrong.map((line) => line.code)).toEqual([code])
    expect(await gateway.metric('rejections_total', { code })).toBe(before + 1)
    expect(server.asked(`/next/${name}`).at(-1)?.fields.Digits).toBe('5')
  })

  it('makes an action use its fallback URL, and the call continues', async () => {
    const caller = await calls(`${name}.fallback.xml.test`)
    await caller.hears(chime)
    caller.media.press('6')
    const { record, wrong } = await over(caller)
    expect(record).toMatchObject({ code: 'normal', by: 'us' })
    expect(wrong.map(faultCode)).toEqual([xml])
    const { fields } = server.asked('/fallback').at(-1)!
    expect(fields).toMatchObject({
      ErrorCode: xml,
      ErrorUrl: server.urlOf(`/next/${name}`),
      CallStatus: 'in-progress',
    })
  })

  it('makes a script’s transfer fail, and the script continues with its next step', async () => {
    const caller = await calls(`${name}.script.test`)
    await caller.hears(chime)
    const { record, wrong } = await over(caller)
    expect(record).toMatchObject({ code: 'normal', by: 'us' })
    expect(wrong.map(faultCode)).toContain(script)
  })
})
