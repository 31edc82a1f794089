import { describe, expect, it } from 'vitest'
import {
  commandOf,
  ignoreTest,
  optionsOf,
  pairsOf,
  readDockerfile,
  withVariables,
  wordsOf,
} from './dockerfile.ts'

describe('the reader of Dockerfiles', () => {
  it('joins lines, and leaves out comments', () => {
    expect(readDockerfile('# syntax=1\n\nFROM a AS b\nRUN one \\\n# why\n  && two\n')).toEqual([
      { name: 'FROM', text: 'a AS b', line: 3 },
      { name: 'RUN', text: 'one   && two', line: 4 },
    ])
  })

  it('rejects what it does not know', () => {
    expect(() => readDockerfile('FROM a\nADD x y')).toThrow('line 2: unknown instruction ADD x y')
    expect(() => readDockerfile('RUN <<END')).toThrow('here-documents')
    expect(() => optionsOf('--chown=a b c', ['from'])).toThrow('--chown')
    expect(() => optionsOf('--link b c', ['from'])).toThrow('--link')
    expect(() => withVariables('$' + '{A:-b}', { A: '1' })).toThrow('unknown variable')
    expect(() => withVariables('$B', { A: '1' })).toThrow('$B')
    expect(() => pairsOf('A b')).toThrow('A is not name=value')
  })

  it('reads words, pairs, options, variables and commands', () => {
    expect(wordsOf(`a "b c" d='e f'`)).toEqual(['a', 'b c', 'd=e f'])
    expect(pairsOf('a=1 b="2 = 3"')).toEqual({ a: '1', b: '2 = 3' })
    expect(optionsOf('--from=build /a ./', ['from'])).toEqual({ options: { from: 'build' }, rest: '/a ./' })
    expect(withVariables('$A-$' + '{A}', { A: '1' })).toBe('1-1')
    expect(commandOf('["tini", "--"]')).toEqual(['tini', '--'])
    expect(commandOf('echo "a b"')).toEqual(['/bin/sh', '-c', 'echo "a b"'])
  })
})

describe('the reader of .dockerignore', () => {
  const isIgnored = ignoreTest('# comment\n.git\n**/dist\n*.log\n**/*.key\ntest/*\n!test/README.md\na?c\n')

  it.each([
    ['.git/HEAD', true],
    ['docs/.git/HEAD', false],
    ['.gitignore', false],
    ['dist/a.js', true],
    ['client/dist/a.js', true],
    ['client/distant/a.js', false],
    ['a.log', true],
    ['client/a.log', false],
    ['deep/in/it.key', true],
    ['test/support/a.ts', true],
    ['test/README.md', false],
    ['abc', true],
    ['a/c', false],
  ])('%s: %s', (path, expected) => expect(isIgnored(path)).toBe(expected))
})
