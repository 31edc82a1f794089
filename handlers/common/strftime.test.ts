import { expect, it, vi } from 'vitest'
import { strftime } from './strftime.ts'

const at = Date.UTC(2026, 0, 4, 23, 5, 9)

it.each([
  ['UTC', '%Y-%m-%d %H:%M:%S', '2026-01-04 23:05:09'],
  ['Europe/Berlin', '%F %T', '2026-01-05 00:05:09'],
  ['America/Chicago', '%A, %B %e at %l:%M %p', 'Sunday, January  4 at  5:05 PM'],
  ['America/Chicago', '%a %b %d %I %P %y %C %z %Z', 'Sun Jan 04 05 pm 26 20 -0600 CST'],
  ['Asia/Kolkata', '%z %j %u %w %k', '+0530 005 1 1  4'],
  ['UTC', '%D|%R|%r|%c', '01/04/26|23:05|11:05:09 PM|Sun Jan  4 23:05:09 2026'],
  ['UTC', '%x %X %s %h%n%t.', `01/04/26 23:05:09 ${at / 1000} Jan\n\t.`],
  ['UTC', '100%% %%d %Q %', '100% %d %Q %'],
  ['Europe/Berlin', '%u %w', '1 1'],
  ['UTC', '%u %w', '7 0'],
])('in %s, %j is %j', (timeZone, format, text) => {
  expect(strftime(at, timeZone, format)).toBe(text)
})

it('handles midnight, noon, summer time and leap years', () => {
  expect(strftime(Date.UTC(2026, 5, 1, 0), 'UTC', '%H %I %p %l')).toBe('00 12 AM 12')
  expect(strftime(Date.UTC(2026, 5, 1, 12), 'UTC', '%I %p')).toBe('12 PM')
  expect(strftime(Date.UTC(2026, 5, 1, 12), 'Europe/Berlin', '%H %z')).toBe('14 +0200')
  expect(strftime(Date.UTC(2028, 11, 31), 'UTC', '%j')).toBe('366')
})

it('throws for an unknown time zone', () => {
  expect(() => strftime(at, 'Mars/Base', '%Y')).toThrow(RangeError)
})

it('makes one formatter for a time zone, and keeps a limited number', () => {
  const make = vi.spyOn(Intl, 'DateTimeFormat')
  try {
    for (let i = 0; i < 3; i++) strftime(at, 'Asia/Tokyo', '%H')
    expect(make).toHaveBeenCalledTimes(1)
    for (let i = 0; i < 64; i++) strftime(at, `+01:${String(i % 60).padStart(2, '0')}`, '%H')
    for (let i = 0; i < 64; i++) strftime(at, `-02:${String(i % 60).padStart(2, '0')}`, '%H')
    make.mockClear()
    strftime(at, 'Asia/Tokyo', '%H')
    expect(make).toHaveBeenCalledTimes(1)
  } finally {
    make.mockRestore()
  }
})
