import { afterAll, beforeAll, expect, it } from 'vitest'
import { application, script } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { levels } from '../support/hearing.ts'
import { until } from '../support/until.ts'

let gateway: Gateway
let documents: DocumentServer

beforeAll(async () => {
  documents = await DocumentServer.open()
  const gathered = documents.put('/gathered', '<Response><Hangup/></Response>')
  const gather = `<Response><Gather numDigits="4" timeout="5" action="${gathered}"><Say>Your number please.</Say></Gather></Response>`
  gateway = await Gateway.start({
    domains: [
      application('gather.test', { kind: 'xml', url: documents.put('/gather', gather) }),
      application('prompt.test', { kind: 'script', url: documents.urlOf('/prompt') }),
      application('ahead.test', { kind: 'script', url: documents.urlOf('/ahead') }),
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
})

it('Gather of an XML document collects the caller’s digits and sends them to its action', async () => {
  const carrier = await Carrier.calls(gateway, { domain: 'gather.test', scenario: 'caller-released' })
  await carrier.talks('answered', 0)
  await carrier.hearsVoice()
  carrier.media.press('12*8')
  const request = await until('the action was asked for', () =>
    documents.requests.find(({ path }) => path === '/gathered'),
  )
  expect(request?.fields.Digits).toBe('12*8')
  await carrier.done()
  await gateway.settled()
})

it('prompt of a script collects the caller’s digits, and send_digits sends digits back', async () => {
  const callee = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
  documents.put(
    '/prompt',
    JSON.stringify(
      script(
        { prompt: { play: 'say:Please press three keys, and there is a lot more to say.', max_digits: 3 } },
        { connect: { to: callee.uri.replace('desk', '%{prompt_value}') } },
        { send_digits: { digits: '42#' } },
        { sleep: 600 },
        'hangup',
      ),
    ),
  )
  const carrier = await Carrier.calls(gateway, { domain: 'prompt.test', scenario: 'caller-released' })
  await carrier.talks('answered', 0)
  await carrier.hearsVoice()
  carrier.media.press('739')
  await callee.sipp.event('invited')
  expect(callee.sipp.messages).toContain('INVITE sip:739@127.0.0.1')
  await carrier.receivesDigits('42#')
  await carrier.done()
  await callee.done()
  await gateway.settled()
})

it('prompt of a script takes digits that were dialled ahead, and does not speak then', async () => {
  const callbackUrl = documents.put('/callback', '{}')
  const steps = [
    'answer',
    { sleep: 2_000 },
    { prompt: { play: 'say:Please press three keys.', max_digits: 3 } },
    { request: { url: `${callbackUrl}?keys=%{prompt_value}`, method: 'GET' } },
    'hangup',
  ]
  documents.put('/ahead', JSON.stringify(script(...steps)))
  const carrier = await Carrier.calls(gateway, { domain: 'ahead.test', scenario: 'caller-released' })
  await carrier.talks('answered', 0)
  carrier.media.press('739')
  const [request] = await until(
    'the digits are reported',
    () => documents.asked('/callback'),
    ({ length }) => length > 0,
  )
  expect(request?.fields.keys).toBe('739')
  expect(levels(carrier.media.packets).filter((level) => level > 300)).toEqual([])
  await carrier.done()
  await gateway.settled()
})
