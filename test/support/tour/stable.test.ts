import { describe, expect, it } from 'vitest'
import { Stable } from './stable.ts'

const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
const first = '5c0ffee0-0000-4000-8000-000000000001'

describe('Stable', () => {
  it.each([
    ['refresh_token', 'aw_kaje_kPQ7cTgcGW_GTymJh9cwrgk50T1N-hVArJQ', 'example-refresh-token-0000'],
    ['push_notification_key', 'Xsn4kaje_kPQ7cTgcGW_GTym', 'example-push-notification-key-0000'],
    ['token', 'vpt_XI1kaje4kPQ7cTgcGW9GTymJh9cwrgk50T1N', 'vpt_example-conference-token-0000'],
    [
      'url',
      `http://localhost:28602/api/recordings/${id}/audio?expires=1795540964&signature=s95EGoJF73WQ`,
      `https://gw.example.com/api/recordings/${first}/audio?expires=1772530200&signature=example`,
    ],
    [
      'token',
      'eyJhbGciOiJ.eyJzdWIiOiJ.SflKxwRJ',
      'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl',
    ],
  ])('keeps no secret of the field %s', (name, secret, example) => {
    expect(new Stable().response({ [name]: secret })).toEqual({ [name]: example })
  })

  it('numbers ids in the order of their appearance, and gives one id one number', () => {
    expect(new Stable().response({ id, self: `/calls/${id}` })).toEqual({
      id: first,
      self: `/calls/${first}`,
    })
  })

  it('gives the call of a response plausible times and measurements', () => {
    const call = {
      created_at: '2031-01-01T00:00:00.001Z',
      ended_at: '2031-01-01T00:00:00.086Z',
      duration_ms: 85,
      ts: 1795454562.995,
    }
    expect(new Stable().response(call)).toEqual({
      created_at: '2026-03-02T09:30:00.000Z',
      ended_at: '2026-03-02T09:30:46.000Z',
      duration_ms: 46_000,
      ts: 1_772_443_800,
    })
  })

  it('keeps the durations of a request, and zeros of a response', () => {
    expect(new Stable().request({ duration: 60 })).toEqual({ duration: 60 })
    expect(new Stable().response({ duration: 0 })).toEqual({ duration: 0 })
  })

  it('shows an address of the test by its example name', () => {
    const stable = new Stable()
    stable.rename('127.0.0.1:4711', 'carrier.example')
    expect(stable.request('sip:desk@127.0.0.1:4711')).toBe('sip:desk@carrier.example')
  })
})
