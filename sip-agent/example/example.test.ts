import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectExampleCalls } from '../testing/example-calls.ts'

const source = join(import.meta.dirname, 'forward-calls.ts')
const root = dirname(import.meta.dirname)

describe('the example of the README', () => {
  it('is the file that runs here', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(readFileSync(source, 'utf8'))
  })

  it('forwards calls, from the sources', async () => {
    await expectExampleCalls(source)
  })
})
