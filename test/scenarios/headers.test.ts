import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { bodyOf, headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

describe.each(agents)('data of an incoming call, by $name', (agent) => {
  let gateway: Gateway
  let documents: DocumentServer

  beforeAll(async () => {
    documents = await DocumentServer.open()
    const gather = `<Response><Gather numDigits="4" timeout="20" action="${documents.urlOf('/digits')}"/></Response>`
    documents.put('/digits', '<Response><Pause length="30"/></Response>')
    const xml = documents.put('/xml', '<Response><Reject reason="busy"/></Response>')
    const json = documents.put('/json', JSON.stringify({ version: '1.0.0', sections: { main: ['hangup'] } }))
    gateway = await Gateway.start({
      agent,
      domains: [
        application('gather.test', { kind: 'xml', document: gather }),
        application('xml.test', { kind: 'xml', url: xml }),
        application('json.test', { kind: 'script', url: json }),
        { domain: 'anyone.test', handler: { kind: 'script', url: json } },
        application('sends.test', scripted('answer', { send_digits: { digits: '4#' } }, 'hangup')),
      ],
    })
  })

  afterAll(async () => {
    await gateway?.stop()
    await documents?.close()
  })

  const calls = (
    domain: string,
    scenario: string,
    options: Partial<IncomingOptions> = {},
  ): Promise<Carrier> => Carrier.calls(gateway, { domain, scenario, ...options })

  /**
   * Places a call with these headers, which its document rejects, and returns the request for the document.
   */
  const asked = async (domain: string, more: readonly string[], options: Partial<IncomingOptions> = {}) => {
    const status = domain === 'xml.test' ? 486 : 480
    const before = documents.requests.length
    const carrier = await calls(domain, 'call-refused', { values: { more, status }, ...options })
    await carrier.done()
    await gateway.settled()
    return documents.requests[before]!
  }

  const sent = [
    'X-Account: 47%2011',
    'x-lower: yes',
    'Diversion: <sip:+15550003333@carrier.test>;reason=no-answer',
    'History-Info: <sip:+15550003333@carrier.test>;index=1',
    'P-Asserted-Identity: "Real" <sip:+15550009999@carrier.test>',
    'Privacy: none',
    'Authorization: Digest username="a", realm="b", nonce="c", uri="d", response="e"',
  ]

  it('X- headers become form fields of an XML document’s request, and P-Asserted-Identity becomes the caller', async () => {
    const { fields } = await asked('xml.test', sent)
    expect(fields).toMatchObject({ 'SipHeader_X-Account': '47 11', 'SipHeader_x-lower': 'yes' })
    expect(fields.From).toContain('+15550009999')
    expect(fields.CallerName).toBe('Real')
    expect(JSON.stringify(fields)).not.toContain('Digest')
  })

  it('a script’s request has the headers of the diverting and the asserted party', async () => {
    const { body } = await asked('json.test', sent)
    const { headers } = (JSON.parse(body) as { call: { headers: { name: string; value: string }[] } }).call
    const named = (name: string) => headers.find((header) => header.name === name)?.value
    expect(named('Diversion')).toBe('<sip:+15550003333@carrier.test>;reason=no-answer')
    expect(named('History-Info')).toBe('<sip:+15550003333@carrier.test>;index=1')
    expect(named('P-Asserted-Identity')).toBe('"Real" <sip:+15550009999@carrier.test>')
    expect(named('Privacy')).toBe('none')
    expect(body).not.toContain('Digest')
  })

  it('the P-Asserted-Identity of an untrusted source is ignored', async () => {
    const { body } = await asked('anyone.test', sent, { address: '127.0.0.9' })
    expect(body).not.toContain('+15550009999')
    expect(body).toContain('+15551230001')
  })

  describe('digits by INFO', () => {
    it('arrive once each, in both content types', async () => {
      const carrier = await calls('gather.test', 'call-sends-info', { holdMs: 300 })
      const request = await until('the action is asked for', () =>
        documents.requests.find(({ path }) => path === '/digits'),
      )
      expect(request?.fields.Digits).toBe('7*3*')
      await carrier.done()
      await gateway.settled()
      expect(headerOf(carrier.sipp.received('SIP/2.0 415')[0] ?? '', 'Accept')).toContain('application/dtmf')
    })

    it('are sent to a caller without telephone-event', async () => {
      const values = { payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' }
      const carrier = await calls('sends.test', 'call-takes-info', { values })
      await carrier.done()
      await gateway.settled()
      const bodies = carrier.sipp.received('INFO').map((info) => /Signal=(\S)/.exec(bodyOf(info))?.[1])
      expect(bodies).toEqual(['4', '#'])
    })
  })
})
