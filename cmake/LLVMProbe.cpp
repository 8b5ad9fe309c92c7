/* Calls what brings all of LLVM that the code generator is made of: links if the static libraries are complete, and then
 * takes as much address space as that will. */
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/InitializePasses.h>
#include <llvm/PassRegistry.h>

extern "C" bool compile(LLVMContextRef c, LLVMMemoryBufferRef text, LLVMTargetMachineRef machine, LLVMModuleRef into);

bool compile(LLVMContextRef c, LLVMMemoryBufferRef text, LLVMTargetMachineRef machine, LLVMModuleRef into)
{
    LLVMModuleRef m;
    LLVMMemoryBufferRef object;
    char *message;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    llvm::initializeGlobalISel(*llvm::PassRegistry::getPassRegistry());
    return !LLVMParseIRInContext(c, text, &m, &message) && !LLVMLinkModules2(into, m) &&
           !LLVMRunPasses(into, "sroa", machine, LLVMCreatePassBuilderOptions()) &&
           !LLVMTargetMachineEmitToMemoryBuffer(machine, into, LLVMObjectFile, &message, &object);
}
