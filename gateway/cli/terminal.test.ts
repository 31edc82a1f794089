import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { beforeEach, expect, it } from 'vitest'
import { InputEnded, openTerminal, type Terminal } from './terminal.ts'

let input: PassThrough
let shown: string
let terminal: Terminal
beforeEach(() => {
  input = new PassThrough()
  const output = new PassThrough()
  shown = ''
  output.on('data', (chunk) => {
    shown += String(chunk)
  })
  terminal = openTerminal({ input, output })
})

it('asks, and shows the answer', async () => {
  const answer = terminal.ask('Name: ')
  input.write('  Ann \r')
  expect(await answer).toBe('Ann')
  expect(shown).toContain('Name: ')
  expect(shown).toContain('Ann')
})

it('shows each answer once, however many questions there are', async () => {
  for (const name of ['Ann', 'Bob', 'Eve']) {
    const answer = terminal.ask('Name: ')
    input.write(`${name}\r`)
    expect(await answer).toBe(name)
  }
  expect(stripVTControlCharacters(shown).replaceAll(/[\r\n]/g, '')).toBe('Name: AnnName: BobName: Eve')
})

it('shows nothing of a secret, and keeps its blanks', async () => {
  const answer = terminal.askSecret('Password: ')
  input.write(' wonderlandX\u007f \r')
  expect(await answer).toBe(' wonderland ')
  expect(shown).toBe('Password: \n')
})

it.each([
  ['Ctrl+C', '\u0003'],
  ['Ctrl+D', '\u0004'],
])('ends at %s', async (_, key) => {
  const answer = terminal.askSecret('Password: ')
  input.write(key)
  await expect(answer).rejects.toThrow(InputEnded)
  expect(shown).toBe('Password: \n')

  const name = terminal.ask('Name: ')
  input.write(key)
  await expect(name).rejects.toThrow(InputEnded)
  expect(stripVTControlCharacters(shown)).toMatch(/^Password: \nName: \r?\n$/)
})
