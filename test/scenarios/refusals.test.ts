import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Code, catalogue } from '../../gateway/core/errors/catalogue.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

let gateway: Gateway
let documents: DocumentServer

beforeAll(async () => {
  documents = await DocumentServer.open()
  const broken = documents.put('/broken.json', '{"sections": {"main": [{"dance": {}}]}}')
  const garbled = documents.put('/garbled.xml', '<Response><Say>unclosed</Response>')
  gateway = await Gateway.start({
    domains: [
      { domain: 'elsewhere.test', allow: ['192.0.2.0/24'], handler: scripted('answer') },
      application('silent.test'),
      { ...application('one.test', scripted('answer', { sleep: 10_000 })), maxCalls: 1 },
      application('plain.test', scripted('answer')),
      application('gone.test', { kind: 'script', url: documents.urlOf('/gone') }),
      application('down.test', { kind: 'xml', url: 'http://127.0.0.1:1/' }),
      application('broken.test', { kind: 'script', url: broken }),
      application('garbled.test', { kind: 'xml', url: garbled }),
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
})

/** Log lines with the code, without the final record of a call, which may have the same code. */
const reasons = (code: Code) => gateway.log.filter((line) => line.code === code && line.msg !== 'call ended')

/** Calls, expects the status and one count of the code, and returns the log line with the code. */
const refused = async (domain: string, code: Code, values: Record<string, string> = {}) => {
  const before = await gateway.metric('rejections_total', { code })
  const lines = reasons(code).length
  const status = catalogue[code].sip
  const carrier = await Carrier.calls(gateway, {
    domain,
    scenario: 'caller-refused',
    values: { status, ...values },
  })
  await carrier.done()
  const found = await until(
    `a log line with the code ${code}`,
    () => reasons(code).slice(lines),
    (more) => more.length > 0,
  )
  expect(found).toHaveLength(1)
  expect(await gateway.metric('rejections_total', { code })).toBe(before + 1)
  return found[0]!
}

describe('a call is rejected with its status, one log line and one count', () => {
  it('from a source that the domain does not allow', async () => {
    expect(await refused('elsewhere.test', 'source_not_allowed')).toMatchObject({
      source: '127.0.0.1',
      domain: 'elsewhere.test',
    })
  })

  it('to an unknown domain', async () => {
    expect(await refused('unheard-of.test', 'unknown_domain')).toMatchObject({ domain: 'unheard-of.test' })
  })

  it('to a domain application without a handler', async () => {
    expect(await refused('silent.test', 'no_handler')).toMatchObject({ domain: 'silent.test' })
  })

  it('over the limit of calls', async () => {
    const first = await Carrier.calls(gateway, { domain: 'one.test', scenario: 'caller', holdMs: 'manual' })
    await first.sipp.event('answered')
    expect(await refused('one.test', 'over_call_limit')).toMatchObject({ domainCalls: 1, domainLimit: 1 })
    await first.goesOn()
    await first.done()
  })

  it('without a common codec', async () => {
    const line = await refused('plain.test', 'no_common_codec', {
      payloads: '18',
      codecs: 'a=rtpmap:18 G729/8000',
    })
    expect(JSON.stringify(line)).toMatch(/G729/i)
  })

  it.each(['gone.test', 'down.test'])('when the document cannot be fetched (%s)', async (domain) => {
    const line = await refused(domain, 'document_unreachable')
    expect(JSON.stringify(line)).toContain('127.0.0.1')
  })

  it.each([
    ['broken.test', 'dance'],
    ['garbled.test', 'Say'],
  ])('when the document is not valid (%s)', async (domain, fault) => {
    const line = await refused(domain, 'document_invalid')
    expect(JSON.stringify(line)).toContain(fault)
  })
})

it('rejected calls leave no state in the gateway', async () => {
  await gateway.settled()
})
