/** The part of the WebAssembly interface that is used here; Node's types leave it to the browser's library. */
declare namespace WebAssembly {
  /** A compiled module. */
  interface Module {
    readonly [Symbol.toStringTag]: string
  }
  /** A module's memory; `buffer` is another one after it has grown. */
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  /** A module that can run. */
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>
  }
  /** A function that the module may call. */
  // biome-ignore lint/suspicious/noExplicitAny: the parameters are the module's choice
  type ImportValue = (...args: any[]) => number

  const Instance: {
    new (module: Module, imports: Readonly<Record<string, Readonly<Record<string, ImportValue>>>>): Instance
  }
  const compile: (bytes: Uint8Array) => Promise<Module>
}
