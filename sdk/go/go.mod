module meridian

go 1.25
