import { describe, expect, it } from 'vitest'
import { joinTypes } from './bundle-types.ts'

const join = (modules: Readonly<Record<string, string>>): string =>
  joinTypes('index', (name) => modules[name] ?? '')

describe('joined declarations', () => {
  it('have those of every module, and export only what the entry exports', () => {
    const joined = join({
      index:
        "import { B } from './b.ts';\nexport type { B, C } from './b.ts';\nexport declare const a: B;\nexport {};\n",
      b: "import type { D } from './d.ts';\nexport interface B {\n    readonly d: D;\n}\nexport type C = B;\n",
      d: 'export declare class D {\n}\nexport {};\n',
    })
    expect(joined).toBe(
      [
        'export type { B, C };',
        'export declare const a: B;',
        'interface B {',
        '    readonly d: D;',
        '}',
        'type C = B;',
        'declare class D {',
        '}',
        'export {};',
        '',
      ].join('\n'),
    )
  })

  it('must not have one name for two declarations, nor two names for one', () => {
    const index = "import { B } from './b.ts';\ninterface A {\n}\n"
    expect(() => join({ index, b: 'export type A = 1;\n' })).toThrow('b and index both declare A')
    const renamed = "import { A as B } from './b.ts';\n"
    expect(() => join({ index: renamed, b: 'export type A = 1;\n' })).toThrow(
      'index imports under another name',
    )
  })
})
