import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Signer } from './signatures.ts'

const facts = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_999 }

describe('the family’s own signature', () => {
  const form = { contentType: 'application/x-www-form-urlencoded', text: 'To=%2B1&CallSid=c-1&From=sip%3Aa' }

  it('of a form is of the URL and of names and values in order', () => {
    const headers = new Signer(['key']).headers({ url: 'https://x.example/a?b=1', body: form, ...facts })
    const expected = createHmac('sha1', 'key').update('https://x.example/a?b=1CallSidc-1Fromsip:aTo+1')
    expect(headers['x-signalwire-signature']).toBe(expected.digest('base64'))
    expect(headers['x-signalwire-sha256-signature']).toBeUndefined()
  })

  it('without a body is of the URL', () => {
    const headers = new Signer(['key']).headers({ url: 'https://x.example/', ...facts })
    const expected = createHmac('sha1', 'key').update('https://x.example/').digest('base64')
    expect(headers['x-signalwire-signature']).toBe(expected)
  })

  it('of JSON is of URL and body, in two strengths', () => {
    const body = { contentType: 'application/json', text: '{"call":{}}' }
    const headers = new Signer(['key']).headers({ url: 'https://x.example/', body, ...facts })
    const of = (hash: string) => createHmac(hash, 'key').update('https://x.example/{"call":{}}').digest('hex')
    expect(headers['x-signalwire-signature']).toBe(of('sha1'))
    expect(headers['x-signalwire-sha256-signature']).toBe(of('sha256'))
  })
})

describe('the signature of Standard Webhooks', () => {
  const body = { contentType: 'application/json', text: '{"test": 2432232314}' }

  it('is that of the published example', () => {
    const signer = new Signer(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])
    const headers = signer.headers({ url: 'https://x.example/', body, ...facts })
    expect(headers).toMatchObject({
      'webhook-id': facts.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('is the same by a key and by its Base64, which libraries want', () => {
    const of = (key: string) => new Signer([key]).headers({ url: '', body, ...facts })['webhook-signature']
    expect(of(`whsec_${Buffer.from('a key').toString('base64')}`)).toBe(of('a key'))
  })

  it('is there by each key', () => {
    const headers = new Signer(['new', 'old']).headers({ url: 'https://x.example/', body, ...facts })
    const of = (key: string) =>
      createHmac('sha256', key).update(`${facts.id}.1614265330.${body.text}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${of('new')} v1,${of('old')}`)
  })
})

it('signs nothing without a key', () => {
  expect(new Signer([]).headers({ url: 'https://x.example/', ...facts })).toEqual({})
})
