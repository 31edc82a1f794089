import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readOrMakeNodeId } from './node-id.ts'

const newFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'node-id-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'node.id')
}

it('is made once, and stays', () => {
  const file = newFile()
  const id = readOrMakeNodeId(file)
  expect([readOrMakeNodeId(file), readFileSync(file, 'utf8')]).toEqual([id, `${id}\n`])
})

it('rejects a file with other content, and a folder that does not exist', () => {
  const file = newFile()
  writeFileSync(file, 'one')
  expect(() => readOrMakeNodeId(file)).toThrow(`${file} does not hold the id of a gateway`)
  expect(() => readOrMakeNodeId(`${file}/x/node.id`)).toThrow('cannot be used')
})
