import { afterAll, describe, expect, it } from 'vitest'
import { FakeContext } from '../../testing/fake-context.ts'
import { faultsOf, TestScripts } from '../../testing/test-scripts.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const weekdays = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '17:30' }

describe('check_hours', () => {
  const at = async (iso: string, parameters: object) => {
    const context = new FakeContext()
    context.time = Date.parse(iso)
    const steps = [{ check_hours: parameters }, { play: { url: 'say:%{hours_result}' } }]
    const { verbs, warnings } = await scripts.run(steps, { context })
    const [, options] = verbs.findLast(([name]) => name === 'play') ?? []
    return [(options as { sounds: { text: string }[] }).sounds[0]?.text, ...warnings]
  }

  it.each([
    ['2026-01-05T09:00:00Z', 'open'],
    ['2026-01-05T08:59:59Z', 'closed'],
    ['2026-01-05T17:29:59Z', 'open'],
    ['2026-01-05T17:30:00Z', 'closed'],
    ['2026-01-10T12:00:00Z', 'closed'],
  ])('applies the hours of the week: %s is %s', async (iso, expected) => {
    expect(await at(iso, { open: [weekdays] })).toEqual([expected])
  })

  it.each([
    // Summer time begins in Berlin on 29 March 2026.
    ['2026-03-27T08:00:00Z', 'Europe/Berlin', 'open'],
    ['2026-03-30T07:00:00Z', 'Europe/Berlin', 'open'],
    ['2026-03-30T06:59:00Z', 'Europe/Berlin', 'closed'],
    ['2026-01-05T13:59:00Z', 'America/New_York', 'closed'],
    ['2026-01-05T14:00:00Z', 'America/New_York', 'open'],
  ])('uses the local time of the time zone: %s in %s is %s', async (iso, time_zone, expected) => {
    expect(await at(iso, { time_zone, open: [weekdays] })).toEqual([expected])
  })

  it.each([
    ['2026-01-09T23:00:00Z', 'open'],
    ['2026-01-10T01:59:00Z', 'open'],
    ['2026-01-10T02:00:00Z', 'closed'],
    ['2026-01-09T01:00:00Z', 'closed'],
  ])('continues past midnight: %s is %s', async (iso, expected) => {
    expect(await at(iso, { open: [{ days: ['fri'], from: '22:00', to: '02:00' }] })).toEqual([expected])
  })

  it.each([
    // Summer time ends in Berlin on Sunday 25 October 2026: this is the only 03:30.
    ['2026-10-25T02:30:00Z', 'sat', 'open'],
    ['2026-10-25T02:30:00Z', 'sun', 'closed'],
    ['2026-10-26T02:30:00Z', 'sun', 'open'],
    // Summer time starts on Sunday 29 March 2026.
    ['2026-03-29T01:30:00Z', 'sat', 'open'],
    ['2026-03-29T01:30:00Z', 'sun', 'closed'],
  ])('assigns a night to its first day across a clock change: %s, %s is %s', async (iso, day, expected) => {
    const open = [{ days: [day], from: '22:00', to: '06:00' }]
    expect(await at(iso, { time_zone: 'Europe/Berlin', open })).toEqual([expected])
  })

  it('applies closed dates, and closes the night that follows', async () => {
    const open = [{ days: ['fri', 'sat'], from: '20:00', to: '04:00' }]
    const closed_dates = ['2026-01-09']
    expect(await at('2026-01-09T21:00:00Z', { open, closed_dates })).toEqual(['closed'])
    expect(await at('2026-01-10T02:00:00Z', { open, closed_dates })).toEqual(['closed'])
    expect(await at('2026-01-10T21:00:00Z', { open, closed_dates })).toEqual(['open'])
  })

  it('is closed in an unknown time zone', async () => {
    expect(await at('2026-01-05T12:00:00Z', { time_zone: 'Mars/Base', open: [weekdays] })).toEqual([
      'closed',
      '/sections/main/0/check_hours method_parameter_invalid_value',
    ])
  })

  it('rejects invalid times and days', () => {
    expect(faultsOf([{ check_hours: { open: [{ ...weekdays, from: '9am' }] } }])).toHaveLength(1)
    expect(faultsOf([{ check_hours: { open: [{ ...weekdays, days: ['monday'] }] } }])).toHaveLength(1)
    expect(faultsOf([{ check_hours: { open: [] } }])).toHaveLength(1)
    expect(faultsOf([{ check_hours: { open: [weekdays], closed_dates: ['tomorrow'] } }])).toHaveLength(1)
  })
})
