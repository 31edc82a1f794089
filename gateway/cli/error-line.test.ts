import { openSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorLine } from './error-line.ts'

it('explains an error of the system in words', () => {
  expect(errorLine(thrownBy(() => openSync('/nowhere/x.yaml', 'r')))).toBe(
    'trunkline: /nowhere/x.yaml: there is no such file or folder (ENOENT, open)',
  )
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' })
  expect(errorLine(full)).toBe('trunkline: the disk is full (ENOSPC, write)')
})

it('keeps the message of every other error', () => {
  expect(errorLine(new Error('The archive is damaged.'))).toBe('trunkline: The archive is damaged.')
  expect(errorLine('text')).toBe('trunkline: text')
})

const thrownBy = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error
  }
}
