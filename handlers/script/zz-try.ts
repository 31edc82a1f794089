import variant from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, DefaultIntrinsics } from 'quickjs-emscripten-core'
const t0=performance.now()
const q = await newQuickJSWASMModuleFromVariant(variant)
console.log('load', performance.now()-t0, Object.keys(DefaultIntrinsics))
const ev=(code:string, mem=4*1024*1024, stack=256*1024)=>{
 const t=performance.now()
 const rt=q.newRuntime(); rt.setMemoryLimit(mem); rt.setMaxStackSize(stack)
 const dl=performance.now()+150
 rt.setInterruptHandler(()=>performance.now()>dl)
 const c=rt.newContext({intrinsics:{BaseObjects:true,Date:true,Eval:true,StringNormalize:true,RegExp:true,JSON:true,MapSet:true,BigInt:true} as never})
 let out: unknown
 try { const r=c.evalCode(code,'e.js',{type:'global',strict:true} as never); if(r.error){out=['err',c.dump(r.error)];r.error.dispose()} else {out=c.getString(r.value).slice(0,80);r.value.dispose()} } catch(e){out=['throw',String(e).slice(0,300)]}
 try{c.dispose(); rt.dispose()}catch(e){out=[out,'dispose',String(e).slice(0,200)]}
 console.log(code.slice(0,60), JSON.stringify(out), (performance.now()-t).toFixed(1))
}
ev('1+1'); ev('1+1')
ev('(()=>{for(;;);})()')
ev('(()=>{const a=[];for(;;)a.push("x".repeat(10000)+a.length)})()')
ev('"x".repeat(1e9)')
ev('new Array(1e9).fill(0).join("")')
ev('(()=>{const f=()=>f()+1;return f()})()')
ev('JSON.stringify(Object.getOwnPropertyNames(globalThis))')
ev('this.constructor.constructor("return typeof process")()')
ev('/(a+)+$/.test("a".repeat(40)+"b")')
ev('[..."abc"].sort().toString().padEnd(2**29)')
ev('(()=>{let s="xxxxxxxxxx";for(let i=0;i<30;i++)s+=s;return s})()')
ev('JSON.parse("[".repeat(100000))')
ev('1+1')
