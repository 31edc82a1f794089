import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSchedule, scheduleOf } from './schedule.ts'

const code = "import { it } from 'vitest'\n"

describe('the schedule of a file', () => {
  it.each([
    ['without a tag', code, []],
    ['in one line', `/** @schedule alone: compares pictures. */\n${code}`, ['alone']],
    ['with two tags', `/** @schedule tones first: listens, and waits. */\n${code}`, ['tones', 'first']],
    ['in several lines', `/**\n * @schedule first: waits\n * for an hour.\n */\n${code}`, ['first']],
  ])('is read from a comment %s', (_, source, expected) => {
    expect(scheduleOf('a.test.ts', source)).toEqual(expected)
  })

  it.each([
    ['an unknown tag', '/** @schedule loud: sings. */', '@schedule has alone, tones, first, not loud'],
    ['no tag', '/** @schedule : sings. */', 'not '],
    ['no reason', '/** @schedule alone */', 'without a reason'],
    ['an empty reason', '/** @schedule alone: */', 'without a reason'],
    ['a tag after code', `${code}/** @schedule alone: sings. */`, 'not at the start'],
    ['a tag in a line comment', '// @schedule alone: sings.', 'not at the start'],
    ['two comments', '/** @schedule alone: sings. */\n/** @schedule first: sings. */', 'more than one'],
    ['tags that exclude one another', '/** @schedule alone tones: sings. */', 'either alone or tones'],
  ])('is rejected with %s', (_, source, message) => {
    expect(() => scheduleOf('a.test.ts', source)).toThrow(message)
    expect(() => scheduleOf('a.test.ts', source)).toThrow('a.test.ts: ')
  })
})

it('the schedule of a folder has the files of each tag', () => {
  const folder = mkdtempSync(join(tmpdir(), 'schedule-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const put = (name: string, tags: string) =>
    writeFileSync(join(folder, name), tags === '' ? code : `/** @schedule ${tags}: because. */\n${code}`)
  put('b.test.ts', 'alone')
  put('a.test.ts', 'alone first')
  put('c.test.ts', 'tones')
  put('d.test.ts', '')
  put('e.ts', 'alone')
  expect(readSchedule(folder, '*.test.ts')).toEqual({
    alone: ['a.test.ts', 'b.test.ts'],
    tones: ['c.test.ts'],
    first: ['a.test.ts'],
  })
})
