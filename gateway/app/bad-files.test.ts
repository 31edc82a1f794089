import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority } from '@trunkline/sip-agent/testing/certificates'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultKinds } from '../../config/fault-kinds.ts'
import { describeFault } from '../../config/faults.ts'
import { badFiles } from '../../config/testing/bad-files.ts'
import { checkFile } from './config-check.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-bad-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const all = badFiles
const check = (env: Readonly<Record<string, string>> = {}, today = '2030-01-01') =>
  checkFile(join(folder, 'trunkline.yaml'), env, { now: () => Date.parse(today) })
const linesOf = ({ faults }: ReturnType<typeof check>) =>
  faults.map((fault) => describeFault(fault).replaceAll(`${folder}/`, ''))

describe('a file', () => {
  it.each(all)('with $mistake is reported', ({ text, env, files = {}, faults }) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    writeFileSync(join(folder, 'trunkline.yaml'), text)
    const report = check(env)
    expect(linesOf(report)).toEqual(faults)
    expect(report.config === undefined).toBe(report.faults.some(({ severity }) => severity === 'error'))
    for (const { source, column, length } of report.faults) {
      expect(column - 1 + length).toBeLessThanOrEqual(Math.max(column, source?.length ?? 0))
      expect(source ?? '').not.toContain('hunter2')
    }
  })

  it.each([
    ['does not exist', () => {}, 'cannot be read: there is no such file'],
    ['is a folder', () => mkdirSync(join(folder, 'trunkline.yaml')), 'cannot be read: it is a folder'],
    [
      'is a link to itself',
      () => symlinkSync('trunkline.yaml', join(folder, 'trunkline.yaml')),
      'cannot be read: its symbolic links form a loop',
    ],
    [
      'has more than 16 MiB',
      () => writeFileSync(join(folder, 'trunkline.yaml'), Buffer.alloc((16 << 20) + 1, '#')),
      'is larger than 16 MiB',
    ],
  ])('that %s is reported', (_what, make, message) => {
    make()
    expect(check().faults.map((fault) => fault.message)).toEqual([message])
  })
})

describe('a certificate', () => {
  const tls = (certificate: string, key: string) =>
    `http: { tls: { certificate: ${certificate}, key: ${key} } }\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n`
  const issue = async () => {
    const authority = await makeAuthority()
    for (const name of ['one', 'two']) {
      const { certificate, key } = await authority.issue({ common: name })
      writeFileSync(join(folder, `${name}.pem`), certificate)
      writeFileSync(join(folder, `${name}.key`), key)
    }
  }
  /** The certificates of the authority end with the year 2099. */
  const linesWith = (certificate: string, key: string, today = '2030-01-01') => {
    writeFileSync(join(folder, 'trunkline.yaml'), tls(certificate, key))
    return linesOf(check({}, today))
  }

  it('with its key is no fault', async () => {
    await issue()
    expect(linesWith('one.pem', 'one.key')).toEqual([])
  })

  it('with the key of another one is reported at the key', async () => {
    await issue()
    expect(linesWith('one.pem', 'two.key')).toEqual([
      'trunkline.yaml:1:43 http.tls.key: does not belong to the certificate one.pem [wrong-file]',
    ])
  })

  it('that has expired is an error, and one that ends soon a warning', async () => {
    await issue()
    expect(linesWith('one.pem', 'one.key', '2101-01-01')[0]).toMatch(
      /:1:29 http\.tls\.certificate: expired on .* \[wrong-file\]$/,
    )
    expect(linesWith('one.pem', 'one.key', '2099-12-20')[0]).toMatch(
      /^trunkline.yaml:1:29 warning: http\.tls\.certificate: expires on \d{4}-\d\d-\d\d \[questionable\]$/,
    )
  })
})

it('each code of the table has a kind, or is that of a document', () => {
  const codes = new Set(
    all.flatMap(({ faults }) => faults.map((line) => /\[([^[\]]+)\]$/.exec(line)?.[1] ?? '')),
  )
  const ofDocuments = [...codes].filter((code) => !Object.hasOwn(faultKinds, code))
  expect(ofDocuments.sort()).toEqual([
    '11100',
    '12100',
    '12200',
    'relay_script_method_parameter_undefined',
    'relay_script_method_undefined',
  ])
})
