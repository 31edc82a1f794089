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
  ])('knows the hours of the week: %s is %s', async (iso, expected) => {
    expect(await at(iso, { open: [weekdays] })).toEqual([expected])
  })

  it.each([
    // Summer time begins in Berlin on 29 March 2026.
    ['2026-03-27T08:00:00Z', 'Europe/Berlin', 'open'],
    ['2026-03-30T07:00:00Z', 'Europe/Berlin', 'open'],
    ['2026-03-30T06:59:00Z', 'Europe/Berlin', 'closed'],
    ['2026-01-05T13:59:00Z', 'America/New_York', 'closed'],
    ['2026-01-05T14:00:00Z', 'America/New_York', 'open'],
  ])('goes by the clock of the time zone: %s in %s is %s', async (iso, time_zone, expected) => {
    expect(await at(iso, { time_zone, open: [weekdays] })).toEqual([expected])
  })

  it.each([
    ['2026-01-09T23:00:00Z', 'open'],
    ['2026-01-10T01:59:00Z', 'open'],
    ['2026-01-10T02:00:00Z', 'closed'],
    ['2026-01-09T01:00:00Z', 'closed'],
  ])('goes on past midnight: %s is %s', async (iso, expected) => {
    expect(await at(iso, { open: [{ days: ['fri'], from: '22:00', to: '02:00' }] })).toEqual([expected])
  })

  it.each([
    // Summer time ends in Berlin in the night before 25 October 2026, a Sunday: it is 03:30, for the first time that day.
    ['2026-10-25T02:30:00Z', 'sat', 'open'],
    ['2026-10-25T02:30:00Z', 'sun', 'closed'],
    ['2026-10-26T02:30:00Z', 'sun', 'open'],
    // It begins in the night before 29 March 2026.
    ['2026-03-29T01:30:00Z', 'sat', 'open'],
    ['2026-03-29T01:30:00Z', 'sun', 'closed'],
  ])(
    'knows whose night it is when the clock is put back or forward: %s, %s is %s',
    async (iso, day, expected) => {
      const open = [{ days: [day], from: '22:00', to: '06:00' }]
      expect(await at(iso, { time_zone: 'Europe/Berlin', open })).toEqual([expected])
    },
  )

  it('knows closed days, and the night after one', async () => {
    const open = [{ days: ['fri', 'sat'], from: '20:00', to: '04:00' }]
    const closed_dates = ['2026-01-09']
    expect(await at('2026-01-09T21:00:00Z', { open, closed_dates })).toEqual(['closed'])
    expect(await at('2026-01-10T02:00:00Z', { open, closed_dates })).toEqual(['closed'])
    expect(await at('2026-01-10T21:00:00Z', { open, closed_dates })).toEqual(['open'])
  })

  it('is closed in a time zone that is not known', async () => {
    expect(await at('2026-01-05T12:00:00Z', { time_zone: 'Mars/Base', open: [weekdays] })).toEqual([
      'closed',
      '/sections/main/0/check_hours method_parameter_invalid_value',
    ])
  })

  it('refuses times and days that are none', () => {
    expect(faultsOf([{ check_hours: { open: [{ ...weekdays, from: '9am' }] } }])).toHaveLength(1)
    expect(faultsOf([{ check_hours: { open: [{ ...weekdays, days: ['monday'] }] } }])).toHaveLength(1)
    expect(faultsOf([{ check_hours: { open: [] } }])).toHaveLength(1)
    expect(faultsOf([{ check_hours: { open: [weekdays], closed_dates: ['tomorrow'] } }])).toHaveLength(1)
  })
})
