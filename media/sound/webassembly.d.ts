/** The used part of the WebAssembly interface; Node's types leave it to the browser's library. */
declare namespace WebAssembly {
  /** A compiled module. */
  interface Module {
    readonly [Symbol.toStringTag]: string
  }
  /** Memory of a module; `buffer` is replaced when it grows. */
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  /** An instantiated module. */
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>
  }
  /** Function imported by a module. */
  // biome-ignore lint/suspicious/noExplicitAny: the parameters are the module's choice
  type ImportValue = (...args: any[]) => number

  const Instance: {
    new (module: Module, imports: Readonly<Record<string, Readonly<Record<string, ImportValue>>>>): Instance
  }
  const compile: (bytes: Uint8Array) => Promise<Module>
}
