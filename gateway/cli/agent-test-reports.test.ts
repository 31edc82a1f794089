import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testResult } from '../agent-test/testing/test-result.ts'
import { checkFiles, type ReportOptions, reportResult } from './agent-test-reports.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent-test-reports-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const none: ReportOptions = {
  json: undefined,
  html: undefined,
  wav: undefined,
  log: undefined,
  quiet: false,
}

it('checks files before the calls, and changes none', () => {
  const there = join(folder, 'there.json')
  const missing = join(folder, 'missing.html')
  writeFileSync(there, 'kept')
  checkFiles({ ...none, json: there, html: missing })
  expect(readFileSync(there, 'utf8')).toBe('kept')
  expect(existsSync(missing)).toBe(false)
  expect(() => checkFiles({ ...none, wav: folder })).toThrow(/EISDIR/)
  expect(() => checkFiles({ ...none, log: join(folder, 'nowhere', 'x.log') })).toThrow(/ENOENT/)
})

it('prints the result even if a file cannot be written', () => {
  const printed: string[] = []
  const options = { ...none, json: join(folder, 'nowhere', 'x.json') }
  expect(() => reportResult(testResult(), options, (text) => printed.push(text))).toThrow(/ENOENT/)
  expect(printed.join('')).toContain('Expectations')
})

it('prints nothing but the failures if it is quiet', () => {
  const printed: string[] = []
  const result = testResult({ says: ['thank you'] })
  reportResult(result, { ...none, quiet: true }, (text) => printed.push(text))
  expect(printed).toEqual(result.checks.flatMap(({ failures }) => failures.map((each) => `${each}\n`)))
  expect(printed).not.toEqual([])
})
