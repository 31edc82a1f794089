import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { printConfig } from './print-config-command.ts'

let folder: string
let file: string
let out: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-print-config-'))
  file = join(folder, 'trunkline.yaml')
  writeFileSync(file, 'project: one\nhttp: { apiToken: hunter2-hunter2-hunter2 }\n')
  out = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

it('prints a key in a line, with its value and its origin', () => {
  expect(printConfig(file, { noDefaults: false, json: false })).toBe(0)
  expect(out).toMatch(/^project = "one" {2}# file\n/)
  expect(out).toContain('http.apiToken = "(secret)"  # file\n')
  expect(out).toContain('drain = "30s"  # default\n')
})

it('leaves out the defaults, as JSON', () => {
  expect(printConfig(file, { noDefaults: true, json: true })).toBe(0)
  expect(JSON.parse(out)).toEqual({
    file,
    values: [
      { key: 'project', value: 'one', origin: 'file' },
      { key: 'http.apiToken', value: '(secret)', origin: 'file' },
    ],
  })
})
