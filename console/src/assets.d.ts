/** URL of a picture, as Vite builds it. */
declare module '*.svg' {
  const url: string
  export default url
}

declare module '*.css' {}
